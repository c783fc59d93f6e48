#!lua
-- Writes changes that were worked out from one version of the channels, if that version is still current.
-- KEYS     version, channels, log of changes
-- ARGV     expected version, random part of the next one, pub/sub channel, then pairs: channel id, record or '' to delete it
-- Returns  the new version, or nil if another change was faster
--!include _version
--!include _log
local version = redis.call('GET', KEYS[1]) or '0'
if version ~= ARGV[1] then return false end
local names = {}
for i = 4, #ARGV, 2 do
  names[#names + 1] = 'c' .. ARGV[i]
  if ARGV[i + 1] == '' then
    redis.call('HDEL', KEYS[2], ARGV[i])
  else
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
  end
end
local after = next_version(KEYS[1], ARGV[2], ARGV[3])
note_change(KEYS[3], version, after, names)
return after
