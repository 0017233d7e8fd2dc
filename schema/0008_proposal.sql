-- Step 8 of the tables: what need not be proposed again.

-- What configuration and flags proposed to the file's runs last (instance names, a digest function), as a hash.
-- NULL: nothing yet, or something was stored of one of these runs since.
ALTER TABLE log_file ADD COLUMN proposal INTEGER;
