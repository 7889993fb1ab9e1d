/**
 * Everything that a control plane can ask of the machine host, one entry a method: what the message must hold, and what is
 * done. Images and templates come by their ids: no path of the host is ever in a message.
 */
import { builtIn, VmError } from '@lodge/ports';
import type {
  GuestAddress,
  Image,
  ReportProgress,
  RuntimeFacts,
  RuntimeVersions,
  Template,
  VmDriver,
} from '@lodge/ports';
import type { KnownImages } from './known-images.ts';
import {
  boolean,
  carriedData,
  egress,
  executionId,
  facts,
  imageId,
  imageName,
  integer,
  ipv4,
  listOf,
  machine,
  matching,
  oneOf,
  optional,
  record,
  runtimeName,
  templateId,
  variant,
} from './shapes.ts';
import type { Shape, Shaped } from './shapes.ts';

/** What a call works on. */
export interface Served {
  readonly driver: VmDriver;
  readonly images: KnownImages;
  /** Of runtimes, beside those that Lodge brings; without it there are none. */
  readonly versions?: RuntimeVersions;
}

/** What one call has beside its arguments. */
export interface CallContext {
  /** Aborted when the caller gives up, or is gone. */
  readonly signal: AbortSignal;
  readonly progress: ReportProgress;
  /** Has the caller prepare a template's guest. */
  readonly prepare: (guest: GuestAddress, signal: AbortSignal) => Promise<RuntimeFacts>;
}

interface Method<A, R> {
  readonly shape: Shape<A>;
  readonly run: (served: Served, args: A, context: CallContext) => Promise<R>;
}

const method = <F extends Readonly<Record<string, Shape<unknown>>>, R>(
  fields: F,
  run: Method<Shaped<F>, R>['run'],
): Method<Shaped<F>, R> => ({ shape: record(fields), run });

const templateRequest = { imageId, variant };
const templateBuild = { ...templateRequest, brokerPort: integer(1, 65_535), fromId: optional(templateId) };

/** The driver reads a template from its own store: nothing but the id counts. */
const named = (id: string): Template => ({ id, imageId: '', facts: {} });

/** More templates than a host ever has. */
const maxTemplates = 4096;

/** Of the host as a whole, its images and its templates. */
const hostMethods = {
  start: method({}, ({ driver }) => driver.start()),
  stop: method({}, ({ driver }) => driver.stop()),

  imageIdOf: method({ runtime: imageName }, ({ images }, { runtime }) => images.idOf(runtime)),
  findImage: method({ runtime: imageName }, ({ images }, { runtime }) => images.find(runtime)),
  ensureImage: method({ runtime: imageName }, ({ images }, { runtime }, { progress, signal }) =>
    images.ensure(runtime, progress, signal),
  ),

  offeredVersions: method({ runtime: runtimeName, variant }, async ({ versions }, call) => {
    const { runtime } = call;
    if (!versions) return { fresh: builtIn(runtime), upgrade: builtIn(runtime) };
    return versions.offered(runtime, call.variant);
  }),

  findTemplate: method(templateRequest, ({ driver }, request) =>
    driver.findTemplate({ image: { id: request.imageId }, variant: request.variant }),
  ),
  getTemplate: method({ id: templateId }, ({ driver }, { id }) => driver.getTemplate(id)),
  buildTemplate: method(templateBuild, ({ driver, images }, build, call) => {
    const { brokerPort, variant: wanted, fromId } = build;
    const { progress, prepare, signal } = call;
    const image: Image = images.byId(build.imageId);
    const from = fromId === null ? {} : { from: named(fromId) };
    return driver.buildTemplate({ image, variant: wanted, brokerPort, progress, prepare, ...from }, signal);
  }),
  collectTemplates: method({ keep: listOf(templateId, maxTemplates) }, ({ driver }, { keep }) =>
    driver.collectTemplates(new Set(keep)),
  ),

  list: method({}, ({ driver }) => driver.list()),
  hostMemory: method({}, ({ driver }) => driver.hostMemory()),
  hostDisk: method({}, ({ driver }) => driver.hostDisk()),
  diskUse: method({ of: oneOf('all', 'running') }, ({ driver }, { of }) => driver.diskUse(of)),
};

/** Of one agent's VM. `agentIds`: what an agent's id looks like. It names folders of the host. */
function vmMethods(agentIds: RegExp) {
  const agentId = matching(agentIds, 'the id of an agent');
  const ofAgent = { agentId };
  const ofExecution = { agentId, executionId };
  return {
    create: method(
      { ...ofExecution, machine, templateId, from: oneOf('clone', 'boot', 'snapshot'), egress: optional(egress) },
      async ({ driver }, { templateId: id, egress: rules, ...request }, { signal }) => {
        return driver.create({ ...request, template: named(id), ...(rules && { egress: rules }) }, signal);
      },
    ),
    pause: method(ofExecution, ({ driver }, call) => driver.pause(call.agentId, call.executionId)),
    resume: method(ofExecution, ({ driver }, call) => driver.resume(call.agentId, call.executionId)),
    suspend: method({ ...ofExecution, facts }, ({ driver }, call, { signal }) =>
      driver.suspend(call.agentId, call.executionId, call.facts, signal),
    ),
    backUp: method({ ...ofExecution, facts, data: carriedData }, ({ driver }, call, { signal }) =>
      driver.backUp(call.agentId, call.executionId, { facts: call.facts, data: call.data }, signal),
    ),
    carryOver: method({ ...ofExecution, data: carriedData }, ({ driver }, call, { signal }) =>
      driver.carryOver(call.agentId, call.executionId, call.data, signal),
    ),
    rollBack: method(ofAgent, ({ driver }, call) => driver.rollBack(call.agentId)),
    dropBackup: method(ofAgent, ({ driver }, call) => driver.dropBackup(call.agentId)),
    resize: method({ ...ofExecution, machine }, ({ driver }, call, { signal }) =>
      driver.resize(call.agentId, call.executionId, call.machine, signal),
    ),
    remove: method({ agentId, keepDisk: boolean }, ({ driver }, call) =>
      driver.remove(call.agentId, { keepDisk: call.keepDisk }),
    ),
    setEgress: method({ agentId, rules: egress }, ({ driver }, call) => driver.setEgress(call.agentId, call.rules)),

    guestCredential: method({ agentId, address: ipv4 }, ({ driver }, call) =>
      driver.guestCredential(call.agentId, call.address),
    ),
    usage: method(ofAgent, ({ driver }, call) => driver.usage(call.agentId)),
    readConsole: method(ofAgent, ({ driver }, call) => driver.readConsole(call.agentId)),
    death: method(ofAgent, ({ driver }, call) => driver.death(call.agentId)),
    readRefused: method(ofAgent, ({ driver }, call) => driver.readRefused(call.agentId)),
    inspect: method(ofAgent, ({ driver }, call) => driver.inspect(call.agentId)),
  };
}

export const methodsFor = (agentIds: RegExp) => ({ ...hostMethods, ...vmMethods(agentIds) });

export type Methods = ReturnType<typeof methodsFor>;
export type MethodName = keyof Methods;
export type ArgsOf<N extends MethodName> = ReturnType<Methods[N]['shape']>;
export type ResultOf<N extends MethodName> = Awaited<ReturnType<Methods[N]['run']>>;

/** What a message asks for, checked; refuses with `VmError`. */
export function prepareCall(methods: Methods, name: unknown, args: unknown) {
  if (typeof name !== 'string' || !Object.hasOwn(methods, name)) throw new VmError('failed', 'there is no such method');
  const { shape, run } = methods[name as MethodName] as Method<unknown, unknown>;
  const checked = shape(args, name);
  return (served: Served, context: CallContext): Promise<unknown> => run(served, checked, context);
}
