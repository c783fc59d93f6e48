/** The order in which the channels of a model are tried. Pure. */
interface Rung {
  readonly name: string;
  readonly priority: number;
  readonly weight: number;
  readonly live: boolean;
}

interface Tier<T extends Rung> {
  readonly priority: number;
  /** Channels with their share of the requests that reach this tier; 0 for those that take no traffic. */
  readonly rungs: readonly { readonly channel: T; readonly share: number }[];
}

/** From the highest priority down; within a tier, requests are spread by weight, with weight 0 only as a last resort. */
export function tiersOf<T extends Rung>(channels: readonly T[]): Tier<T>[] {
  const priorities = [...new Set(channels.map(({ priority }) => priority))].sort((a, b) => b - a);
  return priorities.map((priority) => {
    const all = channels.filter((channel) => channel.priority === priority);
    const live = all.filter((channel) => channel.live);
    const total = live.reduce((sum, { weight }) => sum + weight, 0);
    const shareOf = ({ live: isLive, weight }: T): number => {
      if (!isLive) return 0;
      return total === 0 ? 1 / live.length : weight / total;
    };
    return { priority, rungs: all.map((channel) => ({ channel, share: shareOf(channel) })) };
  });
}
