/** Which models a switch takes down, judging by which channel serves what. Pure. */
export interface ServedModel {
  readonly id: string;
  readonly channels: readonly Serving[];
  /** Models that answer in its place, in this order, while none of its own channels does. */
  readonly fallbacks: readonly string[];
}

interface Serving {
  readonly id: number;
  readonly name: string;
  readonly tag: string | null;
  readonly live: boolean;
}

export interface Dependence {
  /** Models that are answered now but will not be afterwards: they will answer 503. */
  readonly dark: readonly string[];
  /** Models that continue to be answered: by which of their channels, or by those of which other model. */
  readonly elsewhere: readonly {
    readonly model: string;
    readonly fallback: string | undefined;
    readonly channels: readonly string[];
  }[];
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

/** The same where the channels are deleted: nothing answers for a model that no channel has. */
export function dependsOnPresence(
  ids: ReadonlySet<number>,
  models: readonly ServedModel[],
): Dependence {
  return without(
    ({ id }) => ids.has(id),
    models,
    ({ channels }) => channels.every(({ id }) => ids.has(id)),
  );
}

function without(
  goes: (channel: Serving) => boolean,
  models: readonly ServedModel[],
  ends: (model: ServedModel) => boolean = () => false,
): Dependence {
  const byId = new Map(models.map((model) => [model.id, model]));
  const answers = models.flatMap((model) => {
    const now = [model.id, ...model.fallbacks].map((id) => ({
      id,
      channels: (byId.get(id)?.channels ?? []).filter(({ live }) => live),
    }));
    const first = now.find(({ channels }) => channels.length > 0);
    if (!first?.channels.some(goes)) return [];
    const left = now.map(({ id, channels }) => ({
      id,
      channels: channels.filter((channel) => !goes(channel)),
    }));
    const next = ends(model) ? undefined : left.find(({ channels }) => channels.length > 0);
    return [{ model: model.id, next }];
  });
  return {
    dark: answers.flatMap(({ model, next }) => (next === undefined ? [model] : [])),
    elsewhere: answers.flatMap(({ model, next }) =>
      next === undefined
        ? []
        : [
            {
              model,
              fallback: next.id === model ? undefined : next.id,
              channels: next.channels.map(({ name }) => name),
            },
          ],
    ),
  };
}
