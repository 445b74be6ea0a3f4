"""Load → gate → score → report. Imports no Streamlit, Plotly or pandas."""
