// Written by scripts/docs.ts from packages/domain.

/** Channels that a command takes. */
export const channelNames = ['slack', 'discord', 'telegram', 'whatsapp', 'gmail'] as const;

/** Other names of channels in files. */
export const channelAliases = { email: 'gmail' } as const;

/** Names of runtimes by their kind. */
export const runtimes = { runtime_a: 'openclaw', runtime_b: 'hermes' } as const;

/** Names of runtimes whose machines hold several agents. */
export const runtimesWithMembers = ['openclaw'] as const;

export type RuntimeName = (typeof runtimes)[keyof typeof runtimes];
