-- Deletes redemption codes. A claim that is under way is completed without the code.
-- KEYS[1]  the codes; touches `:<id>`, `:hashes` and `:ids` below it
-- ARGV     now ms to delete only those that are used, disabled or expired, or ''; then ids
-- Returns  how many were deleted
local now = tonumber(ARGV[1])
local deleted = 0
for i = 2, #ARGV do
  local key = KEYS[1] .. ':' .. ARGV[i]
  local code = redis.call('HMGET', key, 'hash', 'status', 'expires')
  if code[1] then
    local expires = tonumber(code[3])
    if not now or code[2] ~= 'enabled' or (expires ~= 0 and expires * 1000 <= now) then
      redis.call('DEL', key)
      redis.call('HDEL', KEYS[1] .. ':hashes', code[1])
      redis.call('ZREM', KEYS[1] .. ':ids', ARGV[i])
      deleted = deleted + 1
    end
  end
end
return deleted
