"""HTML pages, in packages by what a person sees; `blueprints` has their addresses.

Where to look:
- page of a table: table/table.py show_table
- drawing of a map: map/map_drawing.py draw_map
- contents and marks of a map: map/map_view.py show_map
- colours of a map: static/map.css
- options of a decision: decision/move_choices.py Builder
- why a thing is no option: decision/why_not.py
- client of the own API: common/in_process.py ask
- desk of an officer: desk/officer_desk.py
"""
