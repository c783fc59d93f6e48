#!lua
-- Counts one event against a sliding window.
-- KEYS[1]  the counters
-- ARGV     limit, window ms, time
-- Returns  {1 if allowed else 0, remaining, retry after ms}
--!include _clock
--!include _rate
local fields = redis.call('HMGET', KEYS[1], 'window', 'current', 'previous')
local last = { window = tonumber(fields[1] or 0), current = tonumber(fields[2] or 0), previous = tonumber(fields[3] or 0) }
local window_ms = tonumber(ARGV[2])
local allowed, remaining, _, retry_after = take_rate(last, tonumber(ARGV[1]), (clock(ARGV[3])), window_ms)
if not allowed then return { 0, 0, retry_after } end
redis.call('HSET', KEYS[1], 'window', last.window, 'current', last.current, 'previous', last.previous)
redis.call('PEXPIRE', KEYS[1], 2 * window_ms)
return { 1, remaining, 0 }
