/**
 * Everything that a control plane can ask of the machine host, one entry a method: how the caller's parameters become a
 * message, which messages are valid, and which work follows. Both ends are made of this table. Images and templates go by
 * their ids: no message has a path of the host.
 */
import { boolean, integer, listOf, matching, oneOf, optional, record } from '@lodge/domain/shapes';
import type { Fields, Shape, Shaped } from '@lodge/domain/shapes';
import { VmError } from '@lodge/ports';
import type { ImageBuilder, ReportProgress, RuntimeVersions, Template, TemplateBuild, VmDriver } from '@lodge/ports';
import type { KnownImages } from './known-images.ts';
import { carriedData, egress, executionId, facts, from, imageId, imageName, ipv4, listedFolder } from './shapes.ts';
import { machine, savedId } from './shapes.ts';
import { runtimeName, templateId, variant } from './shapes.ts';

/** The objects that a call works on. */
export interface Served {
  readonly driver: VmDriver;
  readonly images: KnownImages;
  readonly versions: RuntimeVersions;
}

/** The caller's inputs beside the arguments. They stay at the caller's end; the other end has stand-ins. */
export interface CallContext {
  /** Aborted when the caller gives up, or is gone. */
  readonly signal: AbortSignal;
  readonly progress: ReportProgress;
  /** Makes the caller prepare a template's guest. */
  readonly prepare: TemplateBuild['prepare'];
}
export type CallOptions = Partial<CallContext>;

/** Calls of a driver; its other members need no message of their own. */
type DriverCalls = Omit<VmDriver, 'brokerHost' | 'pace' | 'onExit' | 'dial'>;

/** The methods as their callers have them. */
export interface Remote extends DriverCalls {
  readonly imageIdOf: ImageBuilder['idOf'];
  readonly findImage: ImageBuilder['find'];
  readonly ensureImage: ImageBuilder['ensure'];
  readonly offeredVersions: RuntimeVersions['offered'];
}
export type MethodName = keyof Remote;

type Packed<Args> = readonly [args: Args, options?: CallOptions];

interface Method<N extends MethodName> {
  readonly shape: Shape<unknown>;
  readonly pack: (...params: Parameters<Remote[N]>) => Packed<unknown>;
  readonly run: (served: Served, args: never, context: CallContext) => ReturnType<Remote[N]>;
}
type Methods = { readonly [N in MethodName]: Method<N> };

function method<N extends MethodName, F extends Fields>(
  fields: F,
  pack: (...params: Parameters<Remote[N]>) => Packed<Shaped<F>>,
  run: (served: Served, args: Shaped<F>, context: CallContext) => ReturnType<Remote[N]>,
): Method<N> {
  return { shape: record(fields), pack, run };
}

/** The driver reads a template from its own store, so only the id counts. */
const named = (id: string): Template => ({ id, imageId: '', facts: {} });

/** More templates than a host ever has. */
const maxTemplates = 4096;

/** More saved machines than a host ever has. */
const maxSaved = 2 ** 16;

/** Calls about images, templates and saved machines whose messages differ from their parameters. */
const templateMethods = {
  findTemplate: method(
    { imageId, variant },
    ({ image, variant: wanted }) => [{ imageId: image.id, variant: wanted }],
    ({ driver }, { imageId: id, variant: wanted }) => driver.findTemplate({ image: { id }, variant: wanted }),
  ),
  buildTemplate: method(
    { imageId, variant, brokerPort: integer(1, 65_535), fromId: optional(templateId) },
    ({ image, from, prepare, progress, variant: wanted, brokerPort }, signal) => [
      { imageId: image.id, variant: wanted, brokerPort, fromId: from?.id ?? null },
      { prepare, progress, signal },
    ],
    ({ driver, images }, { imageId: id, fromId, ...build }, { progress, prepare, signal }) => {
      const from = fromId === null ? {} : { from: named(fromId) };
      return driver.buildTemplate({ ...build, image: images.byId(id), progress, prepare, ...from }, signal);
    },
  ),
  collectSaved: method(
    { keep: listOf(savedId, maxSaved), savedBefore: integer(0, Number.MAX_SAFE_INTEGER) },
    (keep, savedBefore) => [{ keep: [...keep], savedBefore: savedBefore.getTime() }],
    ({ driver }, { keep, savedBefore }) => driver.collectSaved(new Set(keep), new Date(savedBefore)),
  ),
  collectTemplates: method(
    { keep: listOf(templateId, maxTemplates) },
    (keep) => [{ keep: [...keep] }],
    ({ driver }, { keep }) => driver.collectTemplates(new Set(keep)),
  ),
} satisfies Partial<Methods>;

/** Calls for one agent's VM whose messages differ from their parameters. */
const vmMethods = (agentId: Shape<string>) =>
  ({
    create: method(
      { agentId, executionId, machine, templateId, from, egress: optional(egress), still: optional(boolean) },
      (request, signal) => {
        const { vcpus, memoryMib, diskGib } = request.machine;
        const { agentId: id, executionId: execution, template, from: source, egress: rules = null } = request;
        const plainMachine = { vcpus, memoryMib, diskGib };
        const ids = { agentId: id, executionId: execution, templateId: template.id };
        return [
          { ...ids, machine: plainMachine, from: source, egress: rules, still: request.still ?? null },
          { signal },
        ];
      },
      async ({ driver }, { templateId: id, egress: rules, still, ...request }, { signal }) =>
        driver.create(
          { ...request, template: named(id), ...(rules && { egress: rules }), ...(still !== null && { still }) },
          signal,
        ),
    ),
    rest: method(
      { agentId, executionId, facts, data: optional(carriedData) },
      (agent, execution, { facts: known, data = null }, signal) => [
        { agentId: agent, executionId: execution, facts: known, data },
        { signal },
      ],
      ({ driver }, { agentId: agent, executionId: execution, facts: known, data }, { signal }) =>
        driver.rest(agent, execution, { facts: known, ...(data !== null && { data }) }, signal),
    ),
    save: method(
      {
        agentId,
        executionId,
        id: savedId,
        memory: boolean,
        facts,
        listed: optional(listedFolder),
        isHasty: optional(boolean),
      },
      (agent, execution, { listed = null, isHasty = null, ...request }, signal) => [
        { agentId: agent, executionId: execution, ...request, listed, isHasty },
        { signal },
      ],
      ({ driver }, { agentId: agent, executionId: execution, listed, isHasty, ...request }, { signal }) =>
        driver.save(
          agent,
          execution,
          { ...request, ...(listed !== null && { listed }), ...(isHasty === true && { isHasty }) },
          signal,
        ),
    ),
    remove: method(
      { agentId, keepDisk: boolean, keepRest: boolean },
      (id, { keepDisk, keepRest = false }) => [{ agentId: id, keepDisk, keepRest }],
      ({ driver }, { agentId: id, keepDisk, keepRest }) => driver.remove(id, { keepDisk, keepRest }),
    ),
  }) satisfies Partial<Methods>;

/** A parameter that crosses unchanged, under its name. `signal` and `progress` stand for those that stay on their side. */
type Param<T> = [T] extends [AbortSignal]
  ? typeof signal
  : [T] extends [ReportProgress]
    ? typeof progress
    : readonly [name: string, shape: Shape<T>];
type Params<P> = { readonly [I in keyof P]: Param<P[I]> };
type ParamsByName = { readonly [N in MethodName]: Params<Parameters<Remote[N]>> };
const signal = 'signal';
const progress = 'progress';

/** Calls whose parameters all cross unchanged, in their order. */
function plainCalls(agentId: Shape<string>) {
  const agent = ['agentId', agentId] as const;
  const execution = ['executionId', executionId] as const;
  const image = ['runtime', imageName] as const;
  return {
    start: [],
    stop: [],
    imageIdOf: [image],
    findImage: [image],
    ensureImage: [image, progress, signal],
    offeredVersions: [
      ['runtime', runtimeName],
      ['variant', variant],
    ],
    getTemplate: [['id', templateId]],
    findSaved: [['id', savedId]],
    checkSaved: [['id', savedId], signal],
    readListing: [['id', savedId]],
    shareSaved: [['id', savedId], signal],
    copySaved: [
      ['from', savedId],
      ['to', savedId],
    ],
    dropSaved: [['id', savedId]],
    list: [],
    hostMemory: [],
    hostDisk: [],
    diskUse: [['of', oneOf('all', 'running')]],
    pause: [agent, execution],
    resume: [agent, execution],
    carryOver: [agent, execution, ['data', carriedData], signal],
    showBrowser: [agent, execution],
    resize: [agent, execution, ['machine', machine], signal],
    setEgress: [agent, ['rules', egress]],
    guestCredential: [agent, ['address', ipv4]],
    usage: [agent],
    readConsole: [agent],
    death: [agent],
    readRefused: [agent],
    inspect: [agent],
  } satisfies Partial<ParamsByName>;
}

type PlainCall = keyof ReturnType<typeof plainCalls>;

/** Plain calls that are not the driver's, and the objects that answer them. */
const elsewhere: Partial<Record<PlainCall, readonly [room: keyof Served, method: string]>> = {
  imageIdOf: ['images', 'idOf'],
  findImage: ['images', 'find'],
  ensureImage: ['images', 'ensure'],
  offeredVersions: ['versions', 'offered'],
};

function plain(name: PlainCall, params: readonly Param<unknown>[]) {
  const crossing = params.filter((param) => typeof param !== 'string');
  return {
    shape: record(Object.fromEntries(crossing)),
    pack(...given: readonly unknown[]) {
      const args = Object.fromEntries(crossing.map(([key], index) => [key, given[index]]));
      const staying = params.flatMap((param, index) => (typeof param === 'string' ? [[param, given[index]]] : []));
      return [args, Object.fromEntries(staying)];
    },
    run(served: Served, args: Readonly<Record<string, unknown>>, context: CallContext) {
      const [room, call] = elsewhere[name] ?? ['driver', name];
      const given = params.map((param) => (typeof param === 'string' ? context[param] : args[param[0]]));
      return (served[room] as unknown as Record<string, (...given: unknown[]) => unknown>)[call]!(...given);
    },
  };
}

/** `agentIds` is the form of an agent's id, which names folders of the host. */
export function methodsFor(agentIds: RegExp): Methods {
  const agentId = matching(agentIds, 'the id of an agent');
  const entries = Object.entries(plainCalls(agentId)) as [PlainCall, readonly Param<unknown>[]][];
  const plainMethods = Object.fromEntries(entries.map(([name, params]) => [name, plain(name, params)]));
  return { ...templateMethods, ...vmMethods(agentId), ...(plainMethods as unknown as Pick<Methods, PlainCall>) };
}

/** Checks the work that a message asks for; refuses with `VmError`. */
export function prepareCall(methods: Methods, name: unknown, args: unknown) {
  if (typeof name !== 'string' || !Object.hasOwn(methods, name)) throw new VmError('failed', 'there is no such method');
  const { shape, run } = methods[name as MethodName] as Method<MethodName>;
  const checked = shape(args, name);
  return (served: Served, context: CallContext): Promise<unknown> => run(served, checked as never, context);
}
