import type { Channel } from '@lodge/sdk';

export type ChannelName = Channel['channel'];

export const channelNames: readonly ChannelName[] = ['slack', 'discord', 'telegram', 'whatsapp', 'gmail'];

export const channelTitles: Readonly<Record<ChannelName, string>> = {
  slack: 'Slack',
  discord: 'Discord',
  telegram: 'Telegram',
  whatsapp: 'WhatsApp',
  gmail: 'Gmail',
};
