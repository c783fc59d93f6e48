/** Which models a switch takes down, judging by which channel serves what. Pure. */
export interface ServedModel {
  readonly id: string;
  readonly live: boolean;
  readonly channels: readonly Serving[];
}

interface Serving {
  readonly id: number;
  readonly name: string;
  readonly tag: string | null;
  readonly live: boolean;
}

export interface Dependence {
  /** Models that have a live channel now but will have none afterwards: they will answer 503. */
  readonly dark: readonly string[];
  /** Models that other channels continue to serve, and by which. */
  readonly elsewhere: readonly { readonly model: string; readonly channels: readonly string[] }[];
}

export function dependsOn(tag: string, models: readonly ServedModel[]): Dependence {
  return without((channel) => channel.tag === tag, models);
}

export function dependsOnChannels(
  ids: ReadonlySet<number>,
  models: readonly ServedModel[],
): Dependence {
  return without(({ id }) => ids.has(id), models);
}

function without(goes: (channel: Serving) => boolean, models: readonly ServedModel[]): Dependence {
  const touched = models.filter(({ channels }) =>
    channels.some((channel) => channel.live && goes(channel)),
  );
  const left = touched.map(({ id, channels }) => ({
    model: id,
    channels: channels.filter((channel) => channel.live && !goes(channel)).map(({ name }) => name),
  }));
  return {
    dark: left.filter(({ channels }) => channels.length === 0).map(({ model }) => model),
    elsewhere: left.filter(({ channels }) => channels.length > 0),
  };
}
