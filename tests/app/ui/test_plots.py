"""Plots: what is written where."""

from matplotlib.backends.backend_agg import FigureCanvasAgg

from kibitz.app.ui import plots


def test_the_last_value_of_a_convergence_plot_is_beside_the_axes():
    figure = plots.convergence(None, "leduc, cfr+", [1, 10, 100, 1000], [4.7, 0.5, 0.03, 0.0012]).figure
    FigureCanvasAgg(figure).draw()
    [axes] = figure.axes
    [label] = [text for text in axes.texts if text.get_text() == "0.0012"]
    box = label.get_window_extent()
    assert box.x0 > axes.get_window_extent().x1
    assert box.x1 <= figure.bbox.x1
    assert not any(box.overlaps(tick.get_window_extent()) for tick in axes.get_xticklabels() if tick.get_text())
