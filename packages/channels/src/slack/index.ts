import type { PlatformDefinition } from '@lodge/ports';
import { baseAddress } from '../shared/base-address.ts';

const settings = { api: baseAddress('LODGE_SLACK_API', 'https://slack.com', "Slack's Web API") };

export const slack: PlatformDefinition<typeof settings> = {
  settings,
  async open({ api }) {
    const { createSlack } = await import('./slack.ts');
    return createSlack(api === null ? {} : { apiUrl: `${api}/api/` });
  },
};
