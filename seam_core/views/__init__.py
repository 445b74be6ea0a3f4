"""What a screen shows, ready to draw: one module a screen, plain functions of an audit. No Streamlit, Plotly or pandas in here."""
