import { BusyError } from '@lodge/ports';

/** Where work comes from; a network is part of a site. */
interface Origin {
  readonly network: string;
  readonly site: string;
}

interface GateBounds {
  /** How much runs at once, and how much waits. */
  readonly atOnce: number;
  readonly waiting: number;
  /** How much of one network and of one site waits. */
  readonly waitingOfNetwork: number;
  readonly waitingOfSite: number;
}

interface Waiting {
  readonly origin: Origin;
  readonly begin: () => void;
  readonly refuse: (error: BusyError) => void;
}

/**
 * Lets so much work through at once, and so much wait, first come first served. No network and no site can fill the queue. Where
 * many sites have filled it together, the last of the site with most gives way to one of a site with less.
 */
export class Gate {
  readonly #bounds: GateBounds;
  readonly #queue: Waiting[] = [];
  #running = 0;

  constructor(bounds: GateBounds) {
    this.#bounds = bounds;
  }

  /** Rejects with `BusyError` when the queue has no room. */
  async run<T>(origin: Origin, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#bounds.atOnce) this.#running++;
    else {
      this.#makeRoom(origin);
      // Whoever ends hands its place on, so `#running` stays.
      await new Promise<void>((begin, refuse) => this.#queue.push({ origin, begin, refuse }));
    }
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next.begin();
      else this.#running--;
    }
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
    const last = this.#queue.findLastIndex(({ origin }) => origin.site === largest);
    this.#queue.splice(last, 1)[0]!.refuse(new BusyError());
  }
}
