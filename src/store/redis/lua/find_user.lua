#!lua
-- Reads an account after giving back its expired reservations.
-- KEYS     user, its reservations, and tokens whose reservations may be given back
-- ARGV     time
-- Returns  its fields and values, none if there is no such account; or {'more keys', token ids...}
--!include _clock
--!include _budget
--!include _give_back
local _, missing = give_back(KEYS[1], KEYS[2], tokens_from(3), (clock(ARGV[1])))
if missing then return more_keys(missing) end
return redis.call('HGETALL', KEYS[1])
