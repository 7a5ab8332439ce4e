"""Pages of results: one self-contained HTML file for a run or several runs (`html`, `report`)."""
