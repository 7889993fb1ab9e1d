import { untilAborted } from '@lodge/domain';
import type { VmDriver } from '@lodge/ports';
import { dialAt, noGuest } from '../dial.ts';
import { throwIfAborted } from '../waiting.ts';

type Driver = Pick<VmDriver, 'create' | 'remove' | 'rest' | 'inspect' | 'onExit'>;

/**
 * The addresses of agents' guests, as the machine host told them. Both ends are on one host and see the same network, so a
 * guest is connected to at its address, and its bytes need not go through the machine host. Each is asked for once: this end
 * hears of everything that changes it.
 */
export class GuestPlaces {
  /** By agents whose VM runs, as far as is known. A promise is a question under way. */
  private readonly known = new Map<string, string | Promise<string | null>>();
  private readonly driver: Driver;

  constructor(driver: Driver) {
    this.driver = driver;
    driver.onExit(({ agentId }) => this.known.delete(agentId));
  }

  readonly create: VmDriver['create'] = (request, signal) =>
    this.around(request.agentId, async () => {
      const vm = await this.driver.create(request, signal);
      return { result: vm, address: vm.address };
    });
  readonly remove: VmDriver['remove'] = (agentId, options) =>
    this.around(agentId, async () => ({ result: await this.driver.remove(agentId, options), address: null }));
  readonly rest: VmDriver['rest'] = (agentId, executionId, request, signal) =>
    this.around(agentId, async () => ({
      result: await this.driver.rest(agentId, executionId, request, signal),
      address: null,
    }));

  readonly dial: VmDriver['dial'] = async (agentId, port, signal) => {
    const known = this.known.get(agentId) ?? this.ask(agentId);
    const address = typeof known === 'string' ? known : await told(known, signal);
    if (address === null) throw noGuest(agentId);
    return dialAt(address)(port, signal);
  };

  /** Answers that were given before the VM changed, or while it did, are not kept. */
  private async around<T>(
    agentId: string,
    change: () => Promise<{ readonly result: T; readonly address: string | null }>,
  ): Promise<T> {
    this.known.delete(agentId);
    try {
      const { result, address } = await change();
      this.known.delete(agentId);
      if (address !== null) this.known.set(agentId, address);
      return result;
    } catch (error) {
      this.known.delete(agentId);
      throw error;
    }
  }

  private ask(agentId: string): Promise<string | null> {
    const asked = this.look(agentId);
    this.known.set(agentId, asked);
    const take = (address: string | null): void => {
      if (this.known.get(agentId) !== asked) return;
      if (address === null) this.known.delete(agentId);
      else this.known.set(agentId, address);
    };
    asked.then(take, () => take(null));
    return asked;
  }

  private async look(agentId: string): Promise<string | null> {
    const seen = await this.driver.inspect(agentId);
    return seen === null || seen.state === 'dead' || seen.state === 'disk-only' ? null : seen.address;
  }
}

/** An emulator that does not answer may take longer than the caller waits. */
async function told(asked: Promise<string | null>, signal: AbortSignal): Promise<string | null> {
  try {
    return await untilAborted(asked, signal);
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  }
}
