import { randomBytes } from 'node:crypto';

/** Returns a name for a conversation that no other has. */
export const newConversation = (): string => `cli-${randomBytes(5).toString('hex')}`;
