"""The parties of Prio3 as processes: leader, helper, clients and collector, what they send and what they must not forget."""
