import type { Channel } from '@lodge/sdk';

export { channelNames, channelTitles } from '@lodge/contract/words';

export type ChannelName = Channel['channel'];
