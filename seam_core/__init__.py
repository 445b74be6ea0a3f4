"""Load → gate → score → report. Imports no Streamlit, Plotly or pandas."""

VERSION = "0.1.0"
