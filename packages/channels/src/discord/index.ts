import type { PlatformDefinition } from '@lodge/ports';
import { baseAddress } from '../shared/base-address.ts';

const settings = { api: baseAddress('LODGE_DISCORD_API', 'https://discord.com', "Discord's REST API") };

export const discord: PlatformDefinition<typeof settings> = {
  settings,
  async open({ api }) {
    const { createDiscord } = await import('./discord.ts');
    return createDiscord(api === null ? {} : { apiUrl: `${api}/api` });
  },
};
