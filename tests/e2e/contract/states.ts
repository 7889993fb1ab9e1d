import assert from 'node:assert/strict';
import { hangAt } from '@lodge/vm/fake';
import { send } from '../api/world.ts';
import type { Answer, Call, World } from '../api/world.ts';

export const statuses = ['provisioning', 'running', 'paused', 'stopped', 'error'] as const;
export type Status = (typeof statuses)[number];

/** A client of the service with one key. */
export class Client {
  readonly world: World;
  readonly key: string;

  constructor(world: World, key = world.key) {
    this.world = world;
    this.key = key;
  }

  call(method: string, path: string, body?: unknown, rest: Call = {}): Promise<Answer> {
    return send(this.world.url, method, `/v1${path}`, { key: this.key, ...(body !== undefined && { body }), ...rest });
  }

  async agent(status: Status, fields: object = {}): Promise<string> {
    const { host } = this.world;
    if (status === 'provisioning') host.behaviour = hangAt('daemon');
    const wait = status === 'provisioning' ? '?wait=false' : '';
    const created = await this.call('POST', `/agents${wait}`, { name: status, size: 'small', ...fields });
    assert.ok(created.status === 201 || created.status === 202, created.text);
    const { id } = created.body as { id: string };
    if (status === 'paused') assert.equal((await this.call('POST', `/agents/${id}/pause`)).status, 200);
    if (status === 'stopped') assert.equal((await this.call('POST', `/agents/${id}/stop`)).status, 200);
    if (status === 'error') await this.crash(id);
    if (status === 'provisioning') {
      while (!host.vms.has(id)) await new Promise((resolve) => setTimeout(resolve, 10));
      host.behaviour = () => Promise.resolve();
    }
    assert.equal(await this.status(id), status);
    return id;
  }

  /** The first death is answered with a restart, the second within ten minutes with `error`. */
  private async crash(id: string): Promise<void> {
    for (let now = 'running'; now !== 'error'; now = await this.status(id)) {
      if (now === 'running') this.world.host.kill(id);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  async status(id: string): Promise<string> {
    return ((await this.call('GET', `/agents/${id}`)).body as { status: string }).status;
  }
}
