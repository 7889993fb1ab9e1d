/**
 * Work that waits in the store, claimed and done by the first process that comes.
 *
 * Woken by a signal and by a timer, it owns nothing that a restart would lose. Each piece is claimed before it is begun, and
 * its claim is renewed while it runs; its outcome is written under the claim. A process that dies leaves claims that end by
 * themselves. A process that ends in order gives its work a bounded time and cuts the rest.
 */
import type { Log } from '@lodge/ports';
import { TurnCut } from './cut.ts';

export interface WorkBounds {
  /** How long a claim holds without being renewed. */
  readonly leaseMs: number;
  readonly lookEveryMs: number;
  /** How long running pieces may go on when the process ends. */
  readonly drainMs: number;
}

/** Most pieces of each kind. */
export type WorkPlaces<Kind extends string> = Readonly<Partial<Record<Kind, number>>>;

export interface WorkParts<Piece extends { readonly id: string }, Kind extends string> {
  readonly bounds: WorkBounds;
  /** Concurrent pieces in this process. A kind whose places are taken delays no other. */
  readonly places: WorkPlaces<Kind>;
  readonly kindOf: (piece: Piece) => Kind;
  /** Claims pieces. Those in `except` are running here. */
  readonly claim: (places: WorkPlaces<Kind>, except: readonly string[]) => Promise<readonly Piece[]>;
  /** Returns the ids whose claims still hold. */
  readonly renew: (pieces: readonly Piece[]) => Promise<ReadonlySet<string>>;
  /** Does the piece and writes its outcome. `cut` aborts with a `TurnCut`. */
  readonly perform: (piece: Piece, cut: AbortSignal) => Promise<void>;
  readonly onWork: (listener: () => void) => () => void;
  /** Whether a call of `onWork` may mean that the thing a piece is for is gone, and the claim with it. */
  readonly losesClaimsOnWork: boolean;
  /** Runs with each look before anything is claimed, also while all places are taken. */
  readonly before?: (underWay: readonly Cuttable<Piece>[]) => Promise<unknown>;
  /** Names the work in the log. */
  readonly what: string;
  readonly fields: (piece: Piece) => Readonly<Record<string, unknown>>;
  readonly log: Log;
}

export interface Cuttable<Piece> {
  readonly piece: Piece;
  /** Aborts with a `TurnCut`. */
  readonly cut: AbortController;
}

interface UnderWay<Piece> extends Cuttable<Piece> {
  readonly done: Promise<void>;
}

export class ClaimedWork<Piece extends { readonly id: string }, Kind extends string> {
  private readonly parts: WorkParts<Piece, Kind>;
  private readonly underWay = new Set<UnderWay<Piece>>();
  private looking: Promise<void> | null = null;
  private isWanted = false;
  private renewing: Promise<void> | null = null;
  private renewedAt = Date.now();
  private isStopping = false;
  private isCutting = false;
  private timers: NodeJS.Timeout[] = [];
  private unsubscribe: () => void = () => undefined;

  constructor(parts: WorkParts<Piece, Kind>) {
    this.parts = parts;
  }

  start(): void {
    const { onWork, bounds } = this.parts;
    this.unsubscribe = onWork(() => this.onWork());
    this.timers = [
      setInterval(() => this.look(), bounds.lookEveryMs),
      setInterval(() => this.renew(), bounds.leaseMs / 3),
    ];
    this.look();
  }

  /** Resolves when no work is running any more. Claims outlast the last grace period without being renewed. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.unsubscribe();
    for (const timer of this.timers) clearInterval(timer);
    const cutting = setTimeout(() => {
      this.isCutting = true;
      for (const { cut } of this.underWay) cut.abort(new TurnCut('closing'));
    }, this.parts.bounds.drainMs);
    // A look that is not finished may find more work.
    await this.looking;
    await Promise.all([...this.underWay].map(({ done }) => done)).finally(() => clearTimeout(cutting));
    await this.renewing;
  }

  private onWork(): void {
    this.look();
    if (this.parts.losesClaimsOnWork && this.underWay.size > 0) this.renew();
  }

  private look(): void {
    if (this.isStopping) return;
    if (this.looking !== null) {
      this.isWanted = true;
      return;
    }
    this.isWanted = false;
    this.looking = this.round()
      .catch((error: unknown) => this.parts.log.warn({ err: error }, `${this.parts.what}: not looked at`))
      .finally(() => {
        this.looking = null;
        if (this.isWanted) this.look();
      });
  }

  private async round(): Promise<void> {
    const { before, claim } = this.parts;
    await before?.([...this.underWay]);
    const free = this.free();
    if (Object.keys(free).length === 0 || this.isStopping) return;
    const ids = [...this.underWay].map(({ piece }) => piece.id);
    for (const piece of await claim(free, ids)) this.begin(piece);
  }

  /** Returns the kinds with free places, and how many. */
  private free(): WorkPlaces<Kind> {
    const { places, kindOf } = this.parts;
    const taken = [...this.underWay].map(({ piece }) => kindOf(piece));
    const all = Object.entries<number | undefined>(places).map(
      ([kind, count = 0]) => [kind, count - taken.filter((each) => each === kind).length] as const,
    );
    return Object.fromEntries(all.filter(([, count]) => count > 0)) as WorkPlaces<Kind>;
  }

  private begin(piece: Piece): void {
    const { perform, log, what, fields } = this.parts;
    const cut = new AbortController();
    if (this.isCutting) cut.abort(new TurnCut('closing'));
    const done = perform(piece, cut.signal)
      .catch((error: unknown) => {
        log.warn({ err: error, ...fields(piece) }, `${what}: an end was not written; its claim will end`);
      })
      .finally(() => {
        this.underWay.delete(one);
        this.look();
      });
    const one: UnderWay<Piece> = { piece, cut, done };
    this.underWay.add(one);
  }

  private renew(): void {
    this.renewing ??= this.renewAll()
      .catch((error: unknown) => this.parts.log.warn({ err: error }, `${this.parts.what}: claims were not renewed`))
      .finally(() => {
        this.renewing = null;
      });
  }

  private async renewAll(): Promise<void> {
    const present = [...this.underWay];
    const began = Date.now();
    if (present.length === 0) {
      this.renewedAt = began;
      return;
    }
    try {
      const held = await this.parts.renew(present.map(({ piece }) => piece));
      this.renewedAt = began;
      for (const { piece, cut } of present) if (!held.has(piece.id)) cut.abort(new TurnCut('claim_lost'));
    } catch (error) {
      // Another process may have the claims by now.
      if (began - this.renewedAt > this.parts.bounds.leaseMs) {
        for (const { cut } of present) cut.abort(new TurnCut('claim_lost'));
      }
      throw error;
    }
  }
}
