import { Semaphore } from '@lodge/domain';
import { BusyError } from '@lodge/ports';

/** The origin of work; a network is part of a site. */
interface Origin {
  readonly network: string;
  readonly site: string;
}

interface GateBounds {
  /** Most work that runs at once, and most that waits. */
  readonly atOnce: number;
  readonly waiting: number;
  /** Most waiting work of one network and of one site. */
  readonly waitingOfNetwork: number;
  readonly waitingOfSite: number;
}

interface Waiting {
  readonly origin: Origin;
  readonly giveUp: AbortController;
}

/**
 * Runs a bounded amount of work at once and queues a bounded amount, first come first served. No network and no site can
 * fill the queue. When many sites have filled it together, the last work of the site with the most gives way to work of a
 * site with less.
 */
export class Gate {
  readonly #bounds: GateBounds;
  readonly #places: Semaphore;
  /** Waiting work in the order of arrival. */
  readonly #queue: Waiting[] = [];

  constructor(bounds: GateBounds) {
    this.#bounds = bounds;
    this.#places = new Semaphore(bounds.atOnce);
  }

  /** Runs work. Rejects with `BusyError` when the queue has no room. */
  run<T>(origin: Origin, work: () => Promise<T>): Promise<T> {
    const waiting: Waiting = { origin, giveUp: new AbortController() };
    const room = {
      enter: () => {
        this.#makeRoom(origin);
        this.#queue.push(waiting);
      },
      leave: () => this.#queue.splice(this.#queue.indexOf(waiting), 1),
    };
    return this.#places.through(work, { room, signal: waiting.giveUp.signal });
  }

  #makeRoom({ network, site }: Origin): void {
    const { waiting, waitingOfNetwork, waitingOfSite } = this.#bounds;
    const sites = new Map<string, number>();
    let ofNetwork = 0;
    for (const { origin } of this.#queue) {
      sites.set(origin.site, (sites.get(origin.site) ?? 0) + 1);
      if (origin.network === network) ofNetwork++;
    }
    const own = sites.get(site) ?? 0;
    if (ofNetwork >= waitingOfNetwork || own >= waitingOfSite) throw new BusyError();
    if (this.#queue.length < waiting) return;
    const [largest, count] = [...sites].reduce((most, each) => (each[1] > most[1] ? each : most));
    if (count <= own + 1) throw new BusyError();
    this.#queue.findLast(({ origin }) => origin.site === largest)!.giveUp.abort(new BusyError());
  }
}
