/** Commands that a sender may give on every channel. The host answers them, not the agent. */
export const channelCommands = ['new', 'stop', 'status', 'help'] as const;
export type ChannelCommand = (typeof channelCommands)[number];

/**
 * Returns the command that the whole text is, as `/new` or, in groups of Telegram, `/new@name_of_bot`; null for any other
 * text.
 */
export function commandIn(text: string): ChannelCommand | null {
  if (text.length > 80 || !text.startsWith('/')) return null;
  const [word = ''] = text.slice(1).trimEnd().split('@', 1);
  return channelCommands.find((command) => command === word.toLowerCase()) ?? null;
}

export const helpText = [
  '/new begins a new conversation.',
  '/stop ends what the agent is doing.',
  '/status tells how the agent is.',
  '/help shows this.',
].join('\n');
