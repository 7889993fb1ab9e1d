/** Calls that benchmarks of saved machines make: to one agent, its snapshots and its forks. Each throws unless it succeeds. */
import type { Measured } from './runtime.ts';

interface Saved {
  readonly id: string;
  readonly bytes: number;
  readonly disk_bytes: number;
}

/** How long the guest stood still for a save, and the memory that it wrote, MiB. */
interface Stillness {
  readonly ms: number;
  readonly mib: number;
}

export function callsOf(measured: Measured) {
  const { service } = measured;
  const still: Stillness[] = [];
  let readTo = 0;
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const reply = await service.call(method, path, body);
    if (reply.status >= 300 || reply.status === 202) {
      throw new Error(`${method} ${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    }
    return reply.body;
  };
  return {
    call,
    /** Never asleep by itself, so that nothing but the benchmark pauses it. */
    create: (more: object = {}): Promise<string> =>
      measured.create({ lifecycle: { idle_timeout_seconds: 0 }, ...more }),
    /** A guest that other work starves may not finish a turn, and is asked again. */
    chat: async (model: string, user = 'benchmark'): Promise<void> => {
      const messages = [{ role: 'user', content: 'ping' }];
      const ask = () => call('POST', '/chat/completions', { model, user, messages });
      await ask().catch(ask);
    },
    /** Runs a command as root of the machine. */
    exec: async (id: string, command: string): Promise<void> => {
      const { exit_code: code, stderr } = (await call('POST', `/agents/${id}/exec`, {
        command,
        user: 'root',
        timeout_seconds: 300,
      })) as { readonly exit_code: number | null; readonly stderr: string };
      if (code !== 0) throw new Error(`${command} ended with ${code}: ${stderr}`);
    },
    save: (id: string, more: object = {}) => call('POST', `/agents/${id}/snapshots`, more) as Promise<Saved>,
    restore: (id: string, snapshot: string) => call('POST', `/agents/${id}/restore`, { snapshot, save_present: false }),
    verb: (id: string, name: 'pause' | 'resume' | 'start' | 'stop') => call('POST', `/agents/${id}/${name}`),
    fork: async (id: string, count: number): Promise<string[]> => {
      const { data } = (await call('POST', `/agents/${id}/fork`, { count })) as {
        readonly data: readonly { readonly id: string; readonly status: string }[];
      };
      for (const { status } of data) if (status !== 'running') throw new Error(`a fork is ${status}`);
      return data.map((agent) => agent.id);
    },
    remove: async (...ids: readonly string[]): Promise<void> => {
      await Promise.all(ids.map((id) => call('DELETE', `/agents/${id}`)));
    },
    /** Reads Lodge's log: every save so far. The log only grows, so each call reads on from the last one. */
    stillness: (): readonly Stillness[] => {
      const end = service.output.lastIndexOf('\n') + 1;
      const lines = service.output.slice(readTo, end).split('\n');
      readTo = end;
      for (const line of lines) {
        if (!line.includes('"VM saved"')) continue;
        const { bytes, ms } = JSON.parse(line) as { readonly bytes: number; readonly ms: number };
        still.push({ ms, mib: bytes / 2 ** 20 });
      }
      return still;
    },
  };
}
