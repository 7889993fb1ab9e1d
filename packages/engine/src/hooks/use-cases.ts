import {
  JsonBoundsError,
  Refusal,
  base64KeyOf,
  boundedJson,
  hookBodyBounds,
  hookDeliveryOf,
  hookEventOf,
  hookTextOf,
  hookWaitBounds,
  isHookPing,
  maxHooks,
  parseTemplate,
  signatureFormOf,
} from '@lodge/domain';
import { hookSecretContext } from '@lodge/ports';
import type { HookRow, HookSignature, SecretBox } from '@lodge/ports';
import { deliverable } from '../channels/not-found.ts';
import type { HooksDeps } from './deps.ts';
import type { HookInput, HookRequest, Hooks, TakenRequest } from './hooks.ts';
import { isSignedBy } from './signature.ts';

/** The use-cases of owners and senders over their ports. */
export function createHooks(deps: HooksDeps): Hooks {
  const { store, tokens, agents, secrets } = deps;
  return {
    async list(accountId, agentId) {
      await agents.get(accountId, agentId);
      return store.list(accountId, agentId);
    },
    async create(place, input, note) {
      await agents.get(place.accountId, place.agentId);
      checkInput(input);
      const token = tokens.make();
      const { name, template, conversation, deliver } = input;
      const signature = sealed(secrets, place.hookId, input.signature);
      const tokenHash = tokens.hash(token);
      const hook = { name, template, conversation, deliver, signature, tokenHash, last4: token.slice(-4) };
      const made = await store.create(place, hook, maxHooks, note);
      if (made === 'full') throw new Refusal('quota_exceeded', `An agent may have ${maxHooks} hooks.`);
      if (made === 'no_agent') throw new Refusal('agent_not_found', 'No agent has this id.');
      return { hook: deliverable(made), token };
    },
    async remove(place, note) {
      await agents.get(place.accountId, place.agentId);
      if (!(await store.remove(place, note))) throw notFound();
    },
    async messages(place, page) {
      await agents.get(place.accountId, place.agentId);
      if ((await store.find(place)) === null) throw notFound();
      return store.messages(place, page);
    },
    isToken: (token) => tokens.isWellFormed(token),
    opened: (token) => store.findByToken(tokens.hash(token)),
    check(hook, request) {
      const { signature } = hook;
      if (signature === null) return;
      const secret = secrets.open(signature.sealed, hookSecretContext(hook.id));
      const form = signatureFormOf(signature.kind, signature.own);
      if (isSignedBy(secret, form, request, new Date())) return;
      throw new Refusal('invalid_signature', `The signature in ${form.header} is missing, old or wrong.`);
    },
    receive: (hook, request) => receive(deps, hook, request),
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

function sealed(secrets: SecretBox, hookId: string, signature: HookInput['signature']): HookSignature | null {
  if (signature === null) return null;
  const { kind, own, secret } = signature;
  const last4 = secret.length >= 12 ? secret.slice(-4) : '';
  return { kind, own, sealed: secrets.seal(secret, hookSecretContext(hookId)), last4 };
}

const fullWords = {
  full: `${hookWaitBounds.ofHook} messages of this hook wait for the agent.`,
  account_full: "As many messages, or as much text, as may wait for all agents of the hook's account wait for them.",
} as const;

async function receive({ store }: HooksDeps, hook: HookRow, { headers, body }: HookRequest): Promise<TakenRequest> {
  if (isHookPing(headers)) return { id: null, isRepeated: false };
  const data = jsonOf(body);
  const delivery = hookDeliveryOf(hook.signature?.kind ?? null, headers, data);
  if ('wrong' in delivery) {
    throw new Refusal('invalid_request', `${delivery.wrong} must be 1 to 200 visible ASCII characters.`);
  }
  const { text, isCut } = hookTextOf(hook.template, data);
  const message = { deliveryId: delivery.id, event: hookEventOf(headers), text, isCut };
  const kept = await store.receive(hook.id, message, hookWaitBounds);
  if (kept === 'gone') throw new Refusal('route_not_found', 'Nothing is at this path.');
  if (typeof kept === 'string') {
    throw new Refusal('rate_limit_exceeded', `${fullWords[kept]} Try again later.`, { retryAfterSeconds: 60 });
  }
  return { id: kept.id, isRepeated: !kept.isNew };
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return boundedJson(body, hookBodyBounds);
  } catch (error) {
    if (error instanceof JsonBoundsError) {
      const code = error.bound === 'bytes' ? 'request_too_large' : 'invalid_json';
      const { bytes, depth, elements } = hookBodyBounds;
      throw new Refusal(code, `The body may have ${bytes / 1024} KiB, ${depth} levels and ${elements} values.`);
    }
    throw new Refusal('invalid_json', 'The body is not JSON. GitHub sends it with the content type application/json.');
  }
}
