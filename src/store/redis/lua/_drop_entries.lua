-- Drops log entries by their numbers: from the log and from the list of whom they are about.
local function drop_entries(log, numbers)
  for _, number in ipairs(numbers) do
    local entry = redis.call('HGET', log .. ':entries', number)
    local of = entry and string.match(entry, '^(%d*) ')
    if of and of ~= '' then redis.call('ZREM', log .. ':of:' .. of, number) end
    redis.call('HDEL', log .. ':entries', number)
    redis.call('ZREM', log .. ':times', number)
  end
end
