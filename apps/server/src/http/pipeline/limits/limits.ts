import { Refusal, maxMessagesPerMinute, networkOf } from '@lodge/domain';
import type { Spend } from '@lodge/engine';
import type { LimitStore, Log, PrincipalSource } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RateLimiter } from './limiter.ts';
import type { Standing } from './limiter.ts';

/** Requests a minute: of one key or session by their kind, and of one address without a valid one. */
export interface RateSettings {
  readonly reads: number;
  readonly writes: number;
  readonly creates: number;
  /** Chat, exec and files. */
  readonly calls: number;
  readonly address: number;
  /** Concurrent creates of one key. */
  readonly createsAtOnce: number;
}

export type RateClass = 'reads' | 'writes' | 'creates' | 'calls';

export interface LimitSettings {
  readonly store: LimitStore;
  readonly rates: RateSettings;
  /** The quotas of an account. */
  readonly quotas: { readonly agents: number; readonly running: number };
  readonly spend: Spend;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The key's limit that counts; by default reads for GET and HEAD, writes for the rest. */
    readonly rate?: RateClass;
  }
}

/** How long beyond the longest wait a create whose server died keeps its place. */
const placeMarginMs = 30_000;
const pruneEveryMs = 60_000;
/** A browser asks for a page and its parts, and several people may share an address. */
const pagesPerRequest = 10;

/** The contract's limits, and their headers on every reply. */
export class Limits {
  private readonly settings: LimitSettings;
  private readonly limiter: RateLimiter;
  private readonly placeTtlMs: number;
  private readonly log: Log;
  private pruning: NodeJS.Timeout | undefined;

  constructor(settings: LimitSettings, createWaitMs: number, log: Log) {
    this.settings = settings;
    this.limiter = new RateLimiter(settings.store);
    this.placeTtlMs = createWaitMs + placeMarginMs;
    this.log = log;
  }

  start(): void {
    this.pruning = setInterval(() => {
      this.settings.store
        .prune()
        .catch((error: unknown) => this.log.warn({ err: error }, 'old rate limits were not removed'));
    }, pruneEveryMs);
    this.pruning.unref();
  }

  stop(): void {
    clearInterval(this.pruning);
  }

  /** Counts a request without a valid key. Refuses with 429. */
  async byAddress(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const perMinute = this.settings.rates.address;
    const standing = await this.limiter.take(`address:${networkOf(request.ip)}`, { perMinute });
    tell(reply, standing);
    if (!standing.allowed) throw exceeded(standing, withoutKey(perMinute));
  }

  /** Counts a request for a page or one of its parts. Refuses with 429. */
  async byPages(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const perMinute = this.settings.rates.address * pagesPerRequest;
    const standing = await this.limiter.take(`address:${networkOf(request.ip)}:pages`, { perMinute });
    tell(reply, standing);
    if (!standing.allowed) throw exceeded(standing, `More than ${perMinute} requests for pages a minute.`);
  }

  /** Whether an address has used up its requests without a valid key. Counts nothing and asks nobody. */
  isOver(address: string): boolean {
    return !this.standingOf(address).allowed;
  }

  /** The refusal for such an address, and for a network that presents too many new keys at once. */
  refusal(address: string, reply?: FastifyReply): Refusal {
    const standing = this.standingOf(address);
    if (reply) tell(reply, standing);
    const text = standing.allowed
      ? 'Too many API keys or sessions at once that are new here.'
      : withoutKey(this.settings.rates.address);
    return exceeded({ ...standing, retryMs: Math.max(1, standing.retryMs) }, text);
  }

  private standingOf(address: string): Standing {
    return this.limiter.look(`address:${networkOf(address)}`, { perMinute: this.settings.rates.address });
  }

  /** Counts a request with a key or session. Refuses with 429. */
  async byPrincipal(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.byKind(request, reply, classOf(request));
  }

  /** Refuses with 429 a principal that has used up its requests of this kind. Counts nothing and asks nobody. */
  checkPrincipal(request: FastifyRequest, reply: FastifyReply): void {
    const kind = classOf(request);
    const perMinute = this.settings.rates[kind];
    const { by } = request.principal;
    const standing = this.limiter.look(`${by.kind}:${by.id}:${kind}`, { perMinute });
    if (standing.allowed) return;
    tell(reply, standing);
    throw exceeded(standing, `More than ${perMinute} ${kind} a minute with ${wordsFor(by)}.`);
  }

  /** Counts a request that counts nowhere else once it is known. */
  async countFruitless(request: FastifyRequest): Promise<void> {
    const kind = classOf(request);
    const { by } = request.principal;
    await this.limiter.take(`${by.kind}:${by.id}:${kind}`, { perMinute: this.settings.rates[kind] });
  }

  /** Counts a request that writes an event among the changes of its key or session, too. Refuses with 429. */
  async byChange(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.byKind(request, reply, 'writes');
  }

  private async byKind(request: FastifyRequest, reply: FastifyReply, kind: RateClass): Promise<void> {
    const { by } = request.principal;
    const perMinute = this.settings.rates[kind];
    const standing = await this.limiter.take(`${by.kind}:${by.id}:${kind}`, { perMinute });
    tell(reply, standing);
    if (!standing.allowed) throw exceeded(standing, `More than ${perMinute} ${kind} a minute with ${wordsFor(by)}.`);
  }

  /** Counts a request of a third party to a hook. Refuses with 429. */
  async byHook(hookId: string, reply: FastifyReply): Promise<void> {
    const perMinute = maxMessagesPerMinute;
    const standing = await this.limiter.take(`hook:${hookId}`, { perMinute });
    tell(reply, standing);
    if (!standing.allowed) throw exceeded(standing, `More than ${perMinute} requests a minute to this hook.`);
  }

  /** Counts a request at an agent's own address, of a key, a visit or an address that needs neither. Refuses with 429. */
  async byCaller(caller: `${'api_key' | 'visit' | 'address'}:${string}`): Promise<void> {
    const perMinute = this.settings.rates.calls;
    const standing = await this.limiter.take(`${caller}:calls`, { perMinute });
    if (!standing.allowed) throw exceeded(standing, `More than ${perMinute} requests a minute.`);
  }

  /** Counts a request at an agent's own address that may not pass. Refuses with 429. */
  async byStranger(address: string): Promise<void> {
    const perMinute = this.settings.rates.address;
    const standing = await this.limiter.take(`address:${networkOf(address)}`, { perMinute });
    if (!standing.allowed) throw exceeded(standing, withoutKey(perMinute));
  }

  /** Takes one of the key's or session's places for running creates until the reply has gone. Refuses with 429. */
  async enterCreate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { store, rates } = this.settings;
    const { by } = request.principal;
    const place = await store.enter(`${by.kind}:${by.id}`, rates.createsAtOnce, this.placeTtlMs);
    if (place === null) {
      const text = `More than ${rates.createsAtOnce} creates at once with ${wordsFor(by)}; wait for one to end.`;
      throw new Refusal('rate_limit_exceeded', text, { retryAfterSeconds: 5 });
    }
    const leave = (): void => {
      store.leave(place).catch((error: unknown) => {
        this.log.warn({ err: error }, "a create's place is free only when its time is over");
      });
    };
    if (reply.raw.closed) leave();
    else reply.raw.once('close', leave);
  }
}

const wordsFor = ({ kind }: PrincipalSource): string => (kind === 'session' ? 'this session' : 'this API key');

const withoutKey = (perMinute: number): string => `More than ${perMinute} requests a minute without a valid API key.`;

function classOf(request: FastifyRequest): RateClass {
  const { rate } = request.routeOptions.config ?? {};
  if (rate) return rate;
  return ['GET', 'HEAD', 'OPTIONS'].includes(request.method) ? 'reads' : 'writes';
}

function tell(reply: FastifyReply, { limit, remaining, resetMs }: Standing): void {
  reply.headers({
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': Math.ceil((Date.now() + resetMs) / 1000),
  });
}

function exceeded({ retryMs }: Standing, text: string): Refusal {
  const seconds = Math.ceil(retryMs / 1000);
  return new Refusal('rate_limit_exceeded', `${text} Try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
  });
}
