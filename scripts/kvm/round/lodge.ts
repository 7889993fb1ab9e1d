/** A running Lodge of this machine, as seen by a client with the first key and by root of the machine. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceleratorOf } from '../../../packages/vm/conformance/accelerator.ts';
import { qemuPid } from '../../../tests/e2e/guest-memory.ts';

/** A long bound for slow nested guests, so that a failure ends. */
const patienceMs = 60 * 60_000;
const pollEveryMs = 500;
/** The user whose conversation continues from chat to chat. */
const user = 'keeper';

export interface Place {
  /** The API's address with `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dataDir: string;
  /** The accelerator that each VM must run on. */
  readonly accelerator: string;
}

export class Lodge {
  private readonly place: Place;
  private readonly tell: (what: string) => void;

  constructor(place: Place, tell: (what: string) => void) {
    this.place = place;
    this.tell = tell;
  }

  /** Waits until the API answers and knows the key. */
  up(): Promise<void> {
    return this.untilAnswers(true, 'the API does not answer');
  }

  /** Waits until nothing answers. */
  down(): Promise<void> {
    return this.untilAnswers(false, 'the API answers on');
  }

  private async untilAnswers(goal: boolean, otherwise: string): Promise<void> {
    const answers = (): Promise<boolean> =>
      this.request('GET', '/agents').then(
        ({ ok }) => ok,
        () => false,
      );
    for (const deadline = performance.now() + patienceMs; (await answers()) !== goal; await sleep(pollEveryMs)) {
      assert.ok(performance.now() < deadline, otherwise);
    }
  }

  async create(name: string): Promise<string> {
    const body = { name, runtime_kind: 'runtime_b', size: 'small', lifecycle: { idle_timeout_seconds: 0 } };
    const { id } = (await this.call('POST', '/agents?wait=false', body)) as { id: string };
    await this.reaches(id, 'running');
    return id;
  }

  /** Requests the verb and waits for its goal. */
  async act(id: string, verb: string, goal: string): Promise<void> {
    await this.call('POST', `/agents/${id}/${verb}?wait=false`);
    await this.reaches(id, goal);
  }

  async resize(id: string, size: string, vcpus: number): Promise<void> {
    await this.call('PATCH', `/agents/${id}`, { size });
    await this.poll(`${vcpus} processors`, async () => (await this.record(id)).machine.vcpus === vcpus);
  }

  async remove(id: string): Promise<void> {
    await this.call('DELETE', `/agents/${id}`);
    await this.poll('no emulator', async () => (await this.pid(id)) === null);
  }

  async chat(id: string, content: string): Promise<string> {
    const body = { model: id, user, messages: [{ role: 'user', content }] };
    const reply = (await this.call('POST', '/chat/completions', body)) as {
      choices: { message: { content: string } }[];
    };
    return reply.choices[0]!.message.content;
  }

  /**
   * Waits for the wanted state with nothing in progress; a running agent must be on the wanted accelerator. Just after a
   * start of the machine a record still has the earlier state, so it counts only with an emulator.
   */
  async reaches(id: string, goal: string): Promise<void> {
    await this.poll(`${id} ${goal}`, async () => {
      const { status, transition, status_reason: reason } = await this.record(id);
      assert.ok(status !== 'error', JSON.stringify(reason));
      return status === goal && transition === null && (goal !== 'running' || (await this.pid(id)) !== null);
    });
    if (goal !== 'running') return;
    const pid = await this.pid(id);
    assert.ok(pid !== null, `${id} has no emulator`);
    const accelerator = acceleratorOf({ pid });
    this.tell(`    ${id} runs on ${accelerator}, process ${pid}`);
    assert.equal(accelerator, this.place.accelerator);
  }

  /** Returns the process of the agent's machine, or null. */
  pid(id: string): Promise<number | null> {
    return qemuPid(this.place.dataDir, id).catch(() => null);
  }

  /** Returns the types of its events, oldest first. */
  async events(id: string): Promise<string[]> {
    const page = (await this.call('GET', `/events?agent_id=${id}&limit=1000&direction=asc`)) as {
      data: { type: string; data: object }[];
    };
    return page.data.map(({ type, data }) => `${type} ${JSON.stringify(data)}`);
  }

  private async record(id: string): Promise<{
    status: string;
    transition: unknown;
    status_reason: unknown;
    machine: { vcpus: number };
  }> {
    return (await this.call('GET', `/agents/${id}`)) as Awaited<ReturnType<Lodge['record']>>;
  }

  private async call(method: string, path: string, body?: object): Promise<unknown> {
    const response = await this.request(method, path, body);
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  private request(method: string, path: string, body?: object): Promise<Response> {
    const { baseUrl, apiKey } = this.place;
    const type = body ? { 'content-type': 'application/json' } : {};
    return fetch(`${baseUrl}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...type },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  private async poll(what: string, is: () => Promise<boolean>): Promise<void> {
    for (const deadline = performance.now() + patienceMs; !(await is()); await sleep(pollEveryMs)) {
      assert.ok(performance.now() < deadline, `not reached: ${what}`);
    }
  }
}
