import { Refusal } from '@lodge/domain';
import { randomUUID } from 'node:crypto';
import type { SecretBox } from '@lodge/ports';
import type { TurnTarget } from '../chat/turn.ts';

const prefix = 'resp_';

/**
 * Ids of responses as clients get them: their conversation, sealed for one account and one agent or member. Nobody else's
 * opens, none can be made up, and nothing is stored for them. A change of the master key ends the earlier ones.
 */
export class ResponseIds {
  private readonly box: SecretBox | undefined;

  /** Without a box they are unsealed. */
  constructor(box: SecretBox | undefined) {
    this.box = box;
  }

  /** Makes a fresh id of this conversation. */
  make(accountId: string, target: TurnTarget, conversation: string): string {
    const text = JSON.stringify([randomUUID(), conversation]);
    const sealed = this.box ? this.box.seal(text, contextOf(accountId, target)) : text;
    return prefix + Buffer.from(sealed).toString('base64url');
  }

  /** Throws for a text that `make` did not make for this account and target. */
  conversationOf(accountId: string, target: TurnTarget, id: string): string {
    try {
      if (!id.startsWith(prefix)) throw new Error('not an id of a response');
      const sealed = Buffer.from(id.slice(prefix.length), 'base64url').toString();
      const text = this.box ? this.box.open(sealed, contextOf(accountId, target)) : sealed;
      const [, conversation] = JSON.parse(text) as readonly unknown[];
      if (typeof conversation === 'string') return conversation;
      throw new Error('no conversation in it');
    } catch (cause) {
      throw new Refusal('invalid_request', 'previous_response_id is not one that this agent gave.', { cause });
    }
  }
}

const contextOf = (accountId: string, { id, member }: TurnTarget): string =>
  `response:${accountId}:${id}:${member ?? ''}`;
