/** Settings of messaging platforms. Each has its own in its folder of `packages/channels`. */
import { definitions } from '@lodge/channels';
import type { ChannelName } from '@lodge/domain';
import type { PlatformDefinition } from '@lodge/ports';
import type { Settings } from '@lodge/ports/settings';
import type { Values } from './tree.ts';

type Platforms = Readonly<Record<ChannelName, Settings>>;

const all = Object.entries(definitions) as readonly (readonly [ChannelName, PlatformDefinition])[];

export const platformSettings = Object.fromEntries(
  all.map(([channel, { settings }]) => [channel, settings]),
) as Platforms;

/** Finds values that are valid alone and contradict each other. */
export const platformDisagreements = (values: Values<Platforms>): readonly string[] =>
  all.flatMap(([channel, definition]) => definition.disagreements?.(values[channel]) ?? []);
