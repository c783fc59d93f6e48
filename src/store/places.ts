import type { PlacesAnswer, PlacesAsk } from '../core/places.js';

/** Calls in flight that nodes limit together: each holds places in advance and takes them without asking. */
export interface PlaceStore {
  /** Takes, keeps and gives back places of the named resource, by the store's clock. */
  askPlaces(name: string, ask: PlacesAsk, nowMs: number): Promise<PlacesAnswer>;
}
