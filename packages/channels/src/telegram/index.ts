import type { PlatformDefinition } from '@lodge/ports';
import { baseAddress } from '../shared/base-address.ts';

const settings = { api: baseAddress('LODGE_TELEGRAM_API', 'https://api.telegram.org', "Telegram's Bot API") };

export const telegram: PlatformDefinition<typeof settings> = {
  settings,
  async open({ api }) {
    const { createTelegram } = await import('./telegram.ts');
    return createTelegram(api === null ? {} : { apiRoot: api });
  },
};
