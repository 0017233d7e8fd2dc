CREATE VIEW _digest_function (
    -- build.bazel.remote.execution.v2.DigestFunction as Buildbarn's URLs spell it.
    function, -- lookup.function
    name      -- lower case
) AS
VALUES (1, 'sha256'), (2, 'sha1'), (3, 'md5'), (5, 'sha384'), (6, 'sha512'), (8, 'sha256tree'), (9, 'blake3'), (10, 'gitsha1');
