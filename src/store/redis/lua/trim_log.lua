-- Drops log entries before a time, a part at a time.
-- KEYS[1]  the log; touches `:entries`, `:times` and `:of:<user>` below it
-- ARGV     time in ms, how many at most
-- Returns  how many went
--!include _drop_entries
local old = redis.call('ZRANGE', KEYS[1] .. ':times', '-inf', '(' .. ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[2])
drop_entries(KEYS[1], old)
return #old
