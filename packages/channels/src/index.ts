/** The platforms that Lodge brings, in the order of their settings. No adapter is loaded here. */
import type { ChannelName } from '@lodge/domain';
import type { PlatformDefinition } from '@lodge/ports';
import { discord } from './discord/index.ts';
import { gmail } from './gmail/index.ts';
import { slack } from './slack/index.ts';
import { telegram } from './telegram/index.ts';
import { whatsapp } from './whatsapp/index.ts';

export const definitions: Readonly<Record<ChannelName, PlatformDefinition>> = {
  telegram,
  slack,
  discord,
  gmail,
  whatsapp,
};
