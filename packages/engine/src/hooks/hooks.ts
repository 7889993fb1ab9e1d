/**
 * Inbound hooks, as their owners see them. Each use-case refuses with `agent_not_found` where the account has no such agent, and
 * with `hook_not_found` where the agent has no such hook.
 */
import { Refusal, base64KeyOf, lastFour, maxHooks, parseTemplate } from '@lodge/domain';
import type { OwnSignature, SignatureKind } from '@lodge/domain';
import { hookSecretContext } from '@lodge/ports';
import type { ActorNote, Delivery, SecretBox, Tokens } from '@lodge/ports';
import { notify } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { countHooks, deleteHook, findHook, hookMessages, hooksOf, insertHook } from '@lodge/store/hooks';
import type { HookMessageRow, HookPlace, HookRow } from '@lodge/store/hooks';
import type { Agents } from '../agents/agents.ts';
import { lockOwnAgent } from '../agents/lock.ts';
import { deliverColumns } from '../channels/deliver-columns.ts';
import { checkDelivery } from '../channels/conversations.ts';
import type { HookBounds } from './bounds.ts';
import { createReceiving } from './receiving.ts';
import type { ReceivingDeps } from './receiving.ts';

export interface HooksDeps extends ReceivingDeps {
  readonly agents: Pick<Agents, 'get'>;
  readonly tokens: Pick<Tokens, 'make' | 'isWellFormed' | 'hash'>;
}

/** Bounds of the loop, beside the engine's own. */
export interface HookParts {
  readonly bounds?: Partial<HookBounds>;
}

export interface HookInput {
  readonly name: string;
  readonly template: string | null;
  readonly conversation: string | null;
  readonly deliver: Delivery;
  readonly signature: {
    readonly kind: SignatureKind;
    readonly own: OwnSignature | null;
    readonly secret: string;
  } | null;
}

export type Hooks = ReturnType<typeof createHooks>;

export function createHooks(deps: HooksDeps) {
  const { database, tokens, agents, secrets } = deps;
  return {
    ...createReceiving(deps),
    /** Oldest first. */
    async list(accountId: string, agentId: string): Promise<readonly HookRow[]> {
      await agents.get(accountId, agentId);
      return database.repeatable((db) => hooksOf(db, accountId, agentId));
    },
    /**
     * Creates a hook with this id. Its token is shown this once. Refuses with `invalid_request` and the field, or with
     * `quota_exceeded`.
     */
    async create(
      place: HookPlace,
      input: HookInput,
      note?: ActorNote,
    ): Promise<{ readonly hook: HookRow; readonly token: string }> {
      await agents.get(place.accountId, place.agentId);
      checkInput(input);
      const token = tokens.make();
      const columns = { ...columnsOf(place, input, secrets), tokenHash: tokens.hash(token), last4: token.slice(-4) };
      const hook = await database.transaction(async (trx) => {
        await lockOwnAgent(trx, place);
        if ((await countHooks(trx, place.agentId)) >= maxHooks) {
          throw new Refusal('quota_exceeded', `An agent may have ${maxHooks} hooks.`);
        }
        await checkDelivery(trx, place, input.deliver);
        const made = await insertHook(trx, columns);
        await writeNote(trx, place, { type: 'hook.created', data: { hook_id: made.id, name: made.name } }, note);
        return made;
      });
      return { hook, token };
    },
    /** Removes a hook with its messages and cuts its running turn. */
    async remove(place: HookPlace, note?: ActorNote): Promise<void> {
      await agents.get(place.accountId, place.agentId);
      await database.transaction(async (trx) => {
        const gone = await deleteHook(trx, place);
        if (gone === undefined) throw notFound();
        await notify(trx, place.agentId, 'work');
        await writeNote(trx, place, { type: 'hook.removed', data: { hook_id: gone.id, name: gone.name } }, note);
      });
    },
    /** Newest first. */
    async messages(
      place: HookPlace,
      page: { readonly before?: string; readonly limit: number },
    ): Promise<readonly HookMessageRow[]> {
      await agents.get(place.accountId, place.agentId);
      return database.repeatable(async (db) => {
        if ((await findHook(db, place)) === undefined) throw notFound();
        return hookMessages(db, place, page);
      });
    },
  };
}

const notFound = (): Refusal => new Refusal('hook_not_found', 'The agent has no such hook.');

function checkInput({ template, signature }: HookInput): void {
  const parsed = template === null ? [] : parseTemplate(template);
  if (typeof parsed === 'string') throw new Refusal('invalid_request', `template ${parsed}.`);
  if (signature?.kind === 'standard' && base64KeyOf(signature.secret) === null) {
    throw new Refusal('invalid_request', 'signature.secret must be whsec_ and base64 of the key for type "standard".');
  }
}

const columnsOf = (
  { accountId, agentId, hookId: id }: HookPlace,
  { name, template, conversation, deliver, signature }: HookInput,
  secrets: SecretBox,
) => ({
  id,
  accountId,
  agentId,
  name,
  template,
  conversation,
  ...deliverColumns(deliver),
  ...(signature !== null && {
    signature: signature.kind,
    signatureHeader: signature.own?.header ?? null,
    signatureEncoding: signature.own?.encoding ?? null,
    signaturePrefix: signature.own?.prefix ?? null,
    secretSealed: secrets.seal(signature.secret, hookSecretContext(id)),
    secretLast4: lastFour(signature.secret),
  }),
});
