# The events that br2-ingest keeps, as a person would ask for them.
def executor: has("CacheQuery") or has("CacheHit") or (.Re.stage? // {} | has("Execute") or has("Queue") or has("Unknown"));
def action: has("Command") or has("ActionExecution") or has("TestRun") or has("TestDiscovery") or has("SpanCancelled");
select(.trace_id or .Result or (.Event.data // {} |
  (.SpanStart.data? // {} | action or (.ExecutorStage.stage? // {} | executor)) or
  (.SpanEnd.data? // {} | action) or
  (.Instant.data? // {} | has("VersionControlRevision") or has("BuckconfigInputValues") or has("BuildGraphInfo"))))
