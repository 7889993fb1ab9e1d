/** The control plane's side: a driver and a builder of images whose work is done by the machine host. */
import { keptPace } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { GuestAddress, ImageBuilder, ReportProgress, RuntimeVersions } from '@lodge/ports';
import type { TemplateBuild, VmDriver, VmRequest } from '@lodge/ports';
import { HostPace } from '../pace.ts';
import { ChannelError } from './channel.ts';
import type { Channel, Message } from './channel.ts';
import { receivedError, sentError } from './errors.ts';
import type { SentError } from './errors.ts';
import type { ArgsOf, MethodName, ResultOf } from './methods.ts';

export interface RemoteMachines {
  readonly driver: VmDriver;
  readonly images: ImageBuilder;
  readonly versions: RuntimeVersions;
}

/** Calls under way at a time, and what their messages have in all; more wait here, in order. Half of what the other end takes. */
const maxAtOnce = 1024;
const maxBytesAtOnce = 16 * 2 ** 20;
/** A caller that is this far behind has lost its way. */
const maxWaiting = 65_536;

type Exit = { readonly agentId: string; readonly executionId: string };

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly progress?: ReportProgress;
  readonly prepare?: TemplateBuild['prepare'];
}

interface Pending extends CallOptions {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
  preparing: AbortController | null;
  /** What a preparation failed of: its caller gets it as it was thrown. */
  preparationError: { readonly sent: string; readonly error: Error } | null;
}

/** `brokerHost` as the driver there says. The channel is to be opened by the caller. */
export function createRemoteMachines(channel: Channel, { brokerHost }: Pick<VmDriver, 'brokerHost'>): RemoteMachines {
  const calls = new Calls(channel);
  const versions: RuntimeVersions = {
    offered: (runtime, variant) => calls.call('offeredVersions', { runtime, variant }),
  };
  return { driver: remoteDriver(calls, brokerHost), images: remoteImages(calls), versions };
}

function remoteImages(calls: Calls): ImageBuilder {
  return {
    idOf: (runtime) => calls.call('imageIdOf', { runtime }),
    find: (runtime) => calls.call('findImage', { runtime }),
    ensure: (runtime, progress, signal) => calls.call('ensureImage', { runtime }, { progress, signal }),
  };
}

function remoteDriver(calls: Calls, brokerHost: string): VmDriver {
  const call = calls.call.bind(calls);
  const pace = new HostPace();
  return {
    brokerHost,
    get pace() {
      return pace.value;
    },
    start: () => call('start', {}),
    stop: () => call('stop', {}),
    findTemplate: async ({ image, variant }) => pace.note(await call('findTemplate', { imageId: image.id, variant })),
    getTemplate: async (id) => pace.note(await call('getTemplate', { id })),
    async buildTemplate({ image, variant, brokerPort, from, prepare, progress }, signal) {
      const args = { imageId: image.id, variant, brokerPort, fromId: from?.id ?? null };
      return pace.note(await call('buildTemplate', args, { prepare, progress, signal }));
    },
    create: (request, signal) => call('create', createArgs(request), { signal }),
    pause: (agentId, executionId) => call('pause', { agentId, executionId }),
    resume: (agentId, executionId) => call('resume', { agentId, executionId }),
    suspend: (agentId, executionId, facts, signal) => call('suspend', { agentId, executionId, facts }, { signal }),
    backUp: (agentId, executionId, { facts, data }, signal) =>
      call('backUp', { agentId, executionId, facts, data }, { signal }),
    carryOver: (agentId, executionId, data, signal) => call('carryOver', { agentId, executionId, data }, { signal }),
    rollBack: (agentId) => call('rollBack', { agentId }),
    dropBackup: (agentId) => call('dropBackup', { agentId }),
    resize: (agentId, executionId, machine, signal) => call('resize', { agentId, executionId, machine }, { signal }),
    guestCredential: (agentId, address) => call('guestCredential', { agentId, address }),
    usage: (agentId) => call('usage', { agentId }),
    readConsole: (agentId) => call('readConsole', { agentId }),
    death: (agentId) => call('death', { agentId }),
    setEgress: (agentId, rules) => call('setEgress', { agentId, rules }),
    async readRefused(agentId) {
      const { refused, more } = await call('readRefused', { agentId });
      // A date crosses as its text.
      return { refused: refused.map((each) => ({ ...each, at: new Date(each.at) })), more };
    },
    collectTemplates: (keep) => call('collectTemplates', { keep: [...keep] }),
    inspect: (agentId) => call('inspect', { agentId }),
    list: () => call('list', {}),
    remove: (agentId, { keepDisk }) => call('remove', { agentId, keepDisk }),
    onExit: (listener) => calls.onExit(listener),
    hostMemory: () => call('hostMemory', {}),
    hostDisk: () => call('hostDisk', {}),
    diskUse: (of) => call('diskUse', { of }),
  };
}

const createArgs = ({ agentId, executionId, machine, template, from, egress }: VmRequest): ArgsOf<'create'> => {
  const { vcpus, memoryMib, diskGib } = machine;
  const plain = { vcpus, memoryMib, diskGib };
  return { agentId, executionId, machine: plain, templateId: template.id, from, egress: egress ?? null };
};

class Calls {
  private readonly channel: Channel;
  private readonly pending = new Map<number, Pending>();
  private readonly waiting: { readonly bytes: number; readonly resolve: () => void }[] = [];
  private readonly exitListeners = new Set<(exit: Exit) => void>();
  private lastId = 0;
  private atOnce = 0;
  private bytesAtOnce = 0;
  private gone: VmError | null = null;

  constructor(channel: Channel) {
    this.channel = channel;
    channel.receive('reply', (message) => this.settle(message));
    channel.receive('progress', ({ id, step, fraction }) => {
      this.pending.get(id as number)?.progress?.(step as string, fraction as number | undefined);
    });
    channel.receive('prepare', (message) => void this.prepare(message));
    channel.receive('unprepare', ({ id }) => this.pending.get(id as number)?.preparing?.abort());
    channel.receive('exit', (message) => {
      const { agentId, executionId } = message as unknown as Exit;
      for (const listener of this.exitListeners) listener({ agentId, executionId });
    });
    void channel.ended.then(() => this.endAll());
  }

  onExit(listener: (exit: Exit) => void): () => void {
    this.exitListeners.add(listener);
    return () => this.exitListeners.delete(listener);
  }

  async call<N extends MethodName>(method: N, args: ArgsOf<N>, options: CallOptions = {}): Promise<ResultOf<N>> {
    // One that is too long to be sent is refused where it is.
    const bytes = Math.min(Buffer.byteLength(JSON.stringify(args)), maxBytesAtOnce);
    await this.place(bytes);
    this.lastId += 1;
    const id = this.lastId;
    const { promise, resolve, reject } = Promise.withResolvers<ResultOf<N>>();
    const pending: Pending = { ...options, resolve, reject, preparing: null, preparationError: null };
    const abort = (): void => this.channel.send({ kind: 'abort', id });
    try {
      if (this.gone) throw this.gone;
      this.pending.set(id, pending);
      this.channel.send({ kind: 'call', id, method, args, ...(options.signal?.aborted && { aborted: true }) });
      options.signal?.addEventListener('abort', abort, { once: true });
      return await promise;
    } catch (error) {
      throw this.asThrownHere(error as Error, pending);
    } finally {
      options.signal?.removeEventListener('abort', abort);
      this.pending.delete(id);
      this.leave(bytes);
    }
  }

  private async place(bytes: number): Promise<void> {
    if (this.waiting.length === 0 && this.fits(bytes)) return this.take(bytes);
    if (this.waiting.length >= maxWaiting)
      throw new VmError('failed', 'too many calls of the machine host are waiting');
    await new Promise<void>((resolve) => this.waiting.push({ bytes, resolve }));
  }

  private leave(bytes: number): void {
    this.atOnce -= 1;
    this.bytesAtOnce -= bytes;
    for (let [next] = this.waiting; next && this.fits(next.bytes); [next] = this.waiting) {
      this.waiting.shift();
      this.take(next.bytes);
      next.resolve();
    }
  }

  private fits(bytes: number): boolean {
    return this.atOnce < maxAtOnce && this.bytesAtOnce + bytes <= maxBytesAtOnce;
  }

  private take(bytes: number): void {
    this.atOnce += 1;
    this.bytesAtOnce += bytes;
  }

  private settle({ id, value, error }: Message): void {
    const pending = this.pending.get(id as number);
    if (error === undefined) pending?.resolve(value as never);
    else pending?.reject(receivedError(error as SentError));
  }

  /** A reason that began on this side comes back as it is. */
  private asThrownHere(error: Error, { signal, preparationError }: Pending): Error {
    if (error instanceof ChannelError) return new VmError('failed', error.message, { cause: error });
    if (preparationError !== null && error.message === preparationError.sent) return preparationError.error;
    const isAborted = error instanceof VmError && error.code === 'aborted' && signal?.aborted === true;
    return isAborted && signal.reason instanceof VmError ? signal.reason : error;
  }

  private async prepare({ id, address, credential, pace }: Message): Promise<void> {
    const pending = this.pending.get(id as number);
    if (!pending?.prepare) return;
    pending.preparing = new AbortController();
    const known = credential as string | null;
    const at = { address: address as string, pace: keptPace(pace) };
    const guest: GuestAddress = { ...at, credential: () => Promise.resolve(known) };
    try {
      const facts = await pending.prepare(guest, pending.preparing.signal);
      this.channel.send({ kind: 'prepared', id, facts });
    } catch (error) {
      const sent = sentError(error);
      if (error instanceof Error) pending.preparationError = { sent: sent.message, error };
      this.channel.send({ kind: 'prepared', id, error: sent });
    }
    pending.preparing = null;
  }

  private endAll(): void {
    this.gone = new VmError('aborted', 'the machine host is gone');
    for (const { reject, preparing } of this.pending.values()) {
      preparing?.abort();
      reject(this.gone);
    }
  }
}
