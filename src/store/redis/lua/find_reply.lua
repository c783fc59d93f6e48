#!lua
-- Finds a ranking that is kept for all nodes.
-- KEYS[1]  as in keep_reply
-- ARGV     time, name
-- Returns  {ms for which it is still kept, text}, or nothing
--!include _clock
local found = redis.call('GET', KEYS[1] .. ':' .. ARGV[2])
if not found then return false end
local ends, text = string.match(found, '^(%d+) (.*)$')
local left = tonumber(ends) - clock(ARGV[1])
if left <= 0 then return false end
return { left, text }
