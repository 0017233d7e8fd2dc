CREATE VIEW _phase (
    -- The four phases of an execution, in their order.
    phase_id, -- 1 to 4
    phase     -- as shown
) AS
VALUES (1, 'queued'), (2, 'fetch'), (3, 'run'), (4, 'upload');
