"""Which package has a name now that another one offered once: for most, the one of its pillar in place of ``sudare`` itself."""

from __future__ import annotations

__all__ = ["MOVED_NAMES"]

MOVED_NAMES: dict[str, dict[str, str]] = {
    "sudare": {
        name: home
        for home, names in {
            "sudare.errors": (
                "AggregatorError BudgetError BudgetExceededError DatabaseError EntropyError EventError "
                "GuaranteeError InputError LedgerError MissingPackageError MixedCurrencyError NotPrivateError "
                "OldKeyWarning OutputError ParameterError PlanError QueryRefusedError SeedError SplitError "
                "SudareError SudareWarning ToldError UserError WeakBudgetWarning"
            ),
            "sudare.privacy": (
                "Accountant ApproximateAccountant DeltaAdvice GaussianMeasurement KeyReleaseMeasurement "
                "LaplaceMeasurement Measurement PldAccountant PureAccountant ResponseMeasurement "
                "SampledGroupsMeasurement SelectionMeasurement Sensitivity SmoothMeasurement ZcdpAccountant "
                "advise_delta best_power compose_parallel epsilon_to_rho for_group plot_suggested_delta "
                "plot_trade_off rho_to_delta rho_to_epsilon sensitivity_of_counts suggest_delta"
            ),
            "sudare.domain": (
                "Attribute Layout Level MESH_LEVELS MeshLevel MeshList SignedTable Times hilbert_layout "
                "layout_named mesh_cells mesh_cells_of_points mesh_codes mesh_level morton_layout random_layout "
                "raster_layout"
            ),
            "sudare.noise": (
                "EntropySource Sampler SecureEntropy bernoulli_exp discrete_gaussian discrete_laplace "
                "entropy_name estimate_non_zeros exponential_mechanism fair_coins geometric noise_for "
                "report_noisy_max secure_entropy uniform_below"
            ),
            "sudare.tables": (
                "Alternative NoisyCounts PlannedLevel PredictedError PreparedTree Suitability ThresholdEffect "
                "adaptive_margins gaussian histogram laplace lasso lm margin_tree negative_l2 nn_wavelet "
                "privelet simplex suits_adaptive_margins table_at_level topdown topdown_bisection wide_tree"
            ),
            "sudare.ledger": ("Dataset Entry Finding Ledger OptOuts Reservation note_publication"),
            "sudare.releases.kinds.counts": (
                "Check Release ReleasePlan read_document read_plan read_published_table read_release_source "
                "render_page run_release verify_release"
            ),
            "sudare.domain.layout": "sorted_layout",
        }.items()
        for name in names.split()
    },
    "sudare.domain": {"sorted_layout": "sudare.domain.layout"},
}
"""For each package, names that it once offered and which package has each now."""
