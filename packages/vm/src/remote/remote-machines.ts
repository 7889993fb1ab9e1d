/** The control plane's side: a driver and a builder of images whose work the machine host does. */
import { agentIdPattern } from '@lodge/domain';
import type { ImageBuilder, RuntimeVersions, Template, VmDriver } from '@lodge/ports';
import { HostPace } from '../pace.ts';
import { Calls } from './calls.ts';
import type { Channel } from './channel.ts';
import { GuestPlaces } from './guest-places.ts';
import { methodsFor } from './methods.ts';
import type { CallOptions, MethodName, Remote } from './methods.ts';

export interface RemoteMachines {
  readonly driver: VmDriver;
  readonly images: ImageBuilder;
  readonly versions: RuntimeVersions;
}

/** `brokerHost` is the driver's. The caller opens the channel. */
export function createRemoteMachines(channel: Channel, { brokerHost }: Pick<VmDriver, 'brokerHost'>): RemoteMachines {
  const calls = new Calls(channel);
  const { imageIdOf, findImage, ensureImage, offeredVersions, ...remote } = remoteOf(calls);
  const pace = new HostPace();
  const noted = async <T extends Template | null>(template: Promise<T>): Promise<T> => pace.note(await template);
  const onExit: VmDriver['onExit'] = (listener) => calls.onExit(listener);
  const { create, remove, rest, dial } = new GuestPlaces({ ...remote, onExit });
  const driver: VmDriver = {
    ...remote,
    create,
    remove,
    rest,
    dial,
    brokerHost,
    get pace() {
      return pace.value;
    },
    findTemplate: (request) => noted(remote.findTemplate(request)),
    getTemplate: (id) => noted(remote.getTemplate(id)),
    buildTemplate: (build, signal) => noted(remote.buildTemplate(build, signal)),
    async findSaved(id) {
      const found = await remote.findSaved(id);
      return found && { ...found, savedAt: new Date(found.savedAt) };
    },
    async readRefused(agentId) {
      const { refused, more } = await remote.readRefused(agentId);
      // A date crosses as its text.
      return { refused: refused.map((each) => ({ ...each, at: new Date(each.at) })), more };
    },
    onExit,
  };
  const images = { idOf: imageIdOf, find: findImage, ensure: ensureImage };
  return { driver, images, versions: { offered: offeredVersions } };
}

/** Makes a call of each method of the table. The other end checks the message: the form of an agent's id is its matter. */
function remoteOf(calls: Calls): Remote {
  type Pack = (...params: readonly unknown[]) => readonly [args: unknown, options?: CallOptions];
  const entries = Object.entries(methodsFor(agentIdPattern)).map(([name, { pack }]) => {
    const call = (...params: readonly unknown[]) => calls.call(name as MethodName, ...(pack as Pack)(...params));
    return [name, call];
  });
  return Object.fromEntries(entries) as Remote;
}
