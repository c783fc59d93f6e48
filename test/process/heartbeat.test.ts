import { describe, expect, it } from '@jest/globals';
import { Heartbeat } from '../../src/process/heartbeat.js';

/** A heartbeat of one; `answers` says whether it answers. */
function watched() {
  const seen: string[] = [];
  const sign = (what: string) => (): void => void seen.push(what);
  const heartbeat = new Heartbeat<string>(
    {
      ask: sign('asked'),
      onSilent: sign('silent'),
      onBack: sign('back'),
      onLost: sign('lost'),
    },
    { silentAfter: 2, lostAfter: 4 },
  );
  heartbeat.follow('one');
  const beats = (count: number): string[] => {
    for (let index = 0; index < count; index += 1) heartbeat.beat();
    return seen.splice(0);
  };
  const heard = (): string[] => {
    heartbeat.heard('one');
    return seen.splice(0);
  };
  return { heartbeat, beats, heard };
}

describe('a heartbeat', () => {
  it('asks again after each answer, and says nothing of who answers', () => {
    const { beats, heard } = watched();

    expect([beats(2), heard(), beats(2), heard()]).toEqual([['asked'], [], ['asked'], []]);
  });

  it('tells once who is silent, who is back, and who is lost', () => {
    const { beats, heard } = watched();

    expect([beats(3), heard()]).toEqual([['asked', 'silent'], ['back']]);
    expect(beats(9)).toEqual(['asked', 'silent', 'lost']);
  });

  it('does not ask who has left, and is not surprised to hear of them', () => {
    const { heartbeat, beats, heard } = watched();
    beats(3);

    heartbeat.leave('one');

    expect([beats(9), heard(), beats(1)]).toEqual([[], [], []]);
  });
});
