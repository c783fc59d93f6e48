#!lua flags=no-writes
-- Whether a place of a user is still known.
-- KEYS[1]  zset of the user's places by expiry
-- ARGV     hash of the place, time
-- Returns  1 or 0
--!include _clock
local expires = redis.call('ZSCORE', KEYS[1], ARGV[1])
return expires and tonumber(expires) > clock(ARGV[2]) and 1 or 0
