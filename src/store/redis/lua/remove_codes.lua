#!lua
-- Deletes redemption codes. A claim in progress is completed without the code.
-- KEYS     hashes, ids, then the record of each code
-- ARGV     time, to delete only codes that are used, disabled or expired, or ''; then the id of each
-- Returns  how many were deleted
--!include _clock
local now = ARGV[1] ~= '' and clock(ARGV[1])
local deleted = 0
for i = 2, #ARGV do
  local key = KEYS[1 + i]
  local code = redis.call('HMGET', key, 'hash', 'status', 'expires')
  if code[1] then
    local expires = tonumber(code[3])
    if not now or code[2] ~= 'enabled' or (expires ~= 0 and expires * 1000 <= now) then
      redis.call('DEL', key)
      redis.call('HDEL', KEYS[1], code[1])
      redis.call('ZREM', KEYS[2], ARGV[i])
      deleted = deleted + 1
    end
  end
end
return deleted
