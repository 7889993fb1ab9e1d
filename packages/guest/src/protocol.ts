/**
 * Protocol between the host and the daemon in a guest: HTTP/1.1 on `guestdPort`, JSON bodies, paths under `/v1`.
 *
 * The daemon answers only to the host's side of the guest's link (`hostAddress`); a process in the guest that connects to it is
 * refused. A claimed daemon answers only to calls with `authorization: Bearer <credential>`, else 401. Any call that may be made
 * can bring the next credential in the header `x-guestd-credential`, known from that call on. The first call to a clone does so,
 * and so does, beside the earlier credential, the first one to a guest whose snapshot was loaded. A guest that boots reads the
 * SHA-256 of its credential from its kernel's parameter `lodge.credential`. The daemon of an older image takes no notice of any
 * of this and goes by the address alone, so the host says the same to all. Root in a guest can make its daemon do the like, or
 * hear the credential: it opens that guest alone, where root has everything already.
 *
 * Every reply carries the header `x-guestd-protocol: 1`. Errors are `{ "error": "<sentence>" }` with a 4xx or 5xx.
 *
 *   GET  /v1/health                         GuestHealth
 *   POST /v1/clock    ClockRequest          {}
 *   POST /v1/freeze   {}                    {}            once nothing of the agent's runs; the next clock lets all go on
 *   POST /v1/cpus     CpusRequest           {}
 *   POST /v1/exec     ExecRequest           ExecResult
 *   POST /v1/sync     SyncRequest           {}
 *   POST /v1/runtime  RuntimeRequest        {}            once the runtime is as asked for
 *   PUT  /v1/files?path=&mode=&owner=       {}            body: the bytes; written to a temporary name and renamed, parents are made; mode is octal
 *   GET  /v1/files?path=                    the bytes
 *   GET  /v1/logs?name=&offset=&limit=      LogChunk
 *   POST /v1/exec/stream  ExecRequest       frames (`execFrame`), as the command writes
 *   GET  /v1/terminal?columns=&rows=&term=  101, then frames both ways (`terminalInput`, `terminalOutput`); `Upgrade: lodge-terminal`
 *   GET  /v1/terminal/root?…                the same as root; the daemon of an older image has no such route, and gives no other user's shell
 *   PUT  /v1/browser  {enabled}             {available}   kept in the guest; without `available` its disk has no browser yet
 *   GET  /v1/browser                        BrowserState
 *   POST /v1/browser/hold  {seconds}        {}            the agent's calls wait for so long, 0..`maxBrowserHoldSeconds`; 409: none runs
 *   GET  /v1/browser/cdp?start=             101, then bytes both ways, as from Chromium's own port; `Upgrade: lodge-cdp`; 409: none runs
 *   GET  /v1/tree?path=&path=               a tar of these folders, with owners, modes and links
 *   PUT  /v1/tree?path=&path=               {}            body: such a tar; each folder is replaced, by a rename, once all of it is there
 *
 * Of what is in the agent's workspace; `path` is relative to it, and no symbolic link on the way leads out of it:
 *   GET    /v1/workspace/entry?path=                                Entry
 *   GET    /v1/workspace/list?path=&after=&limit=                   EntryList
 *   GET    /v1/workspace?path=&from=&to=&version=                   the bytes, with an Entry in the header `x-guestd-entry`
 *   PUT    /v1/workspace?path=&match=&absent=                       WriteResult   body: the bytes; parents are made
 *   PUT    /v1/workspace/folder?path=                               WriteResult   made with its parents
 *   DELETE /v1/workspace?path=&match=&recursive=                    {}
 *   GET    /v1/uploads?id=                                          UploadState   {size: 0} where nothing came
 *   PUT    /v1/uploads?id=&offset=                                  UploadState   body: the bytes; 409 where `offset` is not the size
 *   POST   /v1/uploads?id=&path=&size=&match=&absent=               WriteResult   409 where `size` is not the size
 *   DELETE /v1/uploads?id=                                          {}
 * `from` and `to` are the first and last byte wanted, `from=-n` the last n: then 206 with `content-range`, unless `version` is
 * given and another one is there. `match` are the versions, parted by commas, one of which must be there, or `*` for any.
 *
 * 400: the request is wrong; 404: no such route or file; 409: the guest is not such that it can be done (not a regular file, a
 * symbolic link on the way to a file that is written, fewer vCPUs plugged than asked for); 412: another version is there; 413: too
 * large; 416: no such range; 503: too many at once; 507: the guest's disk is full. One connection per call.
 */
import type { MachineUser } from '@lodge/domain';

export type { MachineUser } from '@lodge/domain';

export const protocolVersion = 1;
export const guestdPort = 8080;

/** The host's address as every guest sees it, and the guest's own: the same in every VM, so that a clone needs no rewriting. */
export const hostAddress = '10.0.2.2';
export const guestAddress = '10.0.2.15';
/** Port at `hostAddress` where a guest finds the LLM broker. */
export const guestBrokerPort = 4000;
/** Port at `hostAddress` where a guest finds hosts of its connections, under their own names. */
export const guestTlsPort = 443;

/** Largest file the daemon takes, bytes, and the largest it gives but in parts of the workspace. */
export const maxFileBytes = 64 * 1024 * 1024;
/** Largest file that comes in parts, bytes. Each part has at most `maxFileBytes`. */
export const maxUploadBytes = 64 * 1024 * 1024 * 1024;
/** Largest JSON body the daemon takes, bytes (`stdin` of an exec is in it). */
export const maxJsonBytes = 4 * 1024 * 1024;
export const maxExecTimeoutMs = 600_000;
export const maxRuntimeGraceMs = 60_000;
/** Bound on `maxOutputBytes` of an exec, and its default. */
export const maxExecOutputBytes = 16 * 1024 * 1024;
export const defaultExecOutputBytes = 1024 * 1024;
/** Bound on `limit` of a log read, bytes. */
export const maxLogChunkBytes = 1024 * 1024;

export interface GuestHealth {
  readonly protocol: typeof protocolVersion;
  /** Seconds since the guest booted, by its own clock. */
  readonly uptimeSeconds: number;
  readonly cpusOnline: number;
  readonly memoryTotalMib: number;
  /** What the kernel could give to a new process without swapping. Null here and below: the daemon of an older image, which does not say. */
  readonly memoryAvailableMib: number | null;
  /** Processes the kernel has killed for want of memory since the guest booted. */
  readonly oomKills: number | null;
  /** Of the root file system, for unprivileged users. */
  readonly diskFreeMib: number | null;
  readonly diskTotalMib: number | null;
}

/**
 * The states of the agent's browser.
 *
 *   off           the owner does not want one
 *   unavailable   there is none on the machine's disk (yet)
 *   idle          it starts with the first use
 *   starting, running
 *   failed        it ended several times soon after its start; the next use tries again
 */
export const browserStatuses = ['off', 'unavailable', 'idle', 'starting', 'running', 'failed'] as const;
export type BrowserStatus = (typeof browserStatuses)[number];

export interface BrowserState {
  readonly status: BrowserStatus;
  /** Says why, where it failed or is not available. */
  readonly message: string | null;
  /** The time for which the agent's calls will wait; null while they do not. */
  readonly heldForSeconds: number | null;
}
export const maxBrowserHoldSeconds = 3600;
/** Where programs in the guest find the browser, by Chromium's protocol. */
export const browserPort = 9222;

export interface ClockRequest {
  readonly unixMs: number;
  /** Host randomness (base64, 32 bytes or more) mixed into the guest's kernel pool. */
  readonly entropy: string;
  /** With the first call of every execution, which may be repeated; until then the guest is what it was when it was saved. */
  readonly identity?: GuestIdentity;
  /** Lets what is frozen go on once clock, randomness and identity are set: the default. The daemon of an older image freezes nothing. */
  readonly goOn?: boolean;
}

/** What an execution does not share with others that went on from the same memory. */
export interface GuestIdentity {
  /** Of the execution (`guestIdPattern`): who keeps random values made ahead makes them anew (`/run/lodge/generation`). */
  readonly generation: string;
  /** Of the agent (`guestHostnamePattern`). */
  readonly hostname: string;
  /** Of the agent (`guestIdPattern`), the same in all its executions: `/etc/machine-id`. No secret. */
  readonly machineId: string;
}
/** 128 bits in hexadecimal. */
export const guestIdPattern = /^[\da-f]{32}$/;
export const guestHostnamePattern = /^[\da-z][\da-z-]{0,62}$/;

export interface CpusRequest {
  /** vCPUs that shall be online: hot-plugged ones are brought up, surplus ones taken offline. */
  readonly online: number;
}

export interface SyncRequest {
  /** Drops the page cache after the sync, so that a memory snapshot stays small. */
  readonly dropCaches: boolean;
}

export interface RuntimeRequest {
  /** False: the runtime is ended, and started again only when that is asked for or the guest boots. */
  readonly run: boolean;
  /** With `run: false`: from SIGTERM to SIGKILL; 0..`maxRuntimeGraceMs`. */
  readonly graceMs: number;
}

export interface ExecRequest {
  readonly argv: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** `agent` (default) is the unprivileged user the runtime runs as. */
  readonly user?: MachineUser;
  /** 1..`maxExecTimeoutMs`; the process group is killed then. It is also killed when the command itself has ended, or the caller is gone. */
  readonly timeoutMs: number;
  /** Bound on stdout and on stderr, each; default `defaultExecOutputBytes`. What is over it is dropped and `truncated` is set. */
  readonly maxOutputBytes?: number;
}

/** How a process ended: one of the two is null, both where that is not known. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface ExecOutcome extends ProcessEnd {
  readonly timedOut: boolean;
  readonly truncated: boolean;
}

export interface ExecResult extends ExecOutcome {
  readonly stdout: string;
  readonly stderr: string;
}

export interface TerminalSize {
  /** 1..`maxTerminalSide`, as `rows`. */
  readonly columns: number;
  readonly rows: number;
}
/** What a terminal begins with. */
export interface TerminalWanted extends TerminalSize {
  /** Kind of terminal, for TERM. */
  readonly term: string;
  /** `agent` by default. */
  readonly user?: MachineUser;
}
export const maxTerminalSide = 1000;
/** Terminals open at once in one guest. */
export const maxTerminals = 32;
/** A terminal whose host was silent for so long is closed: it answers every ping and sends one well within this. */
export const terminalSilenceMs = 60_000;

/** What is at a path of the workspace. */
export interface Entry {
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
  readonly size: number;
  readonly modifiedMs: number;
  /** Permission bits. */
  readonly mode: number;
  /** Another one whenever the contents may be others; letters, digits and hyphens. */
  readonly version: string;
}

export interface NamedEntry extends Entry {
  readonly name: string;
  /** Of a symbolic link: where it points. */
  readonly target: string | null;
}

/** A page of a folder, by name (UTF-16 code units). Names that are not UTF-8 are left out. */
export interface EntryList {
  readonly entries: readonly NamedEntry[];
  readonly more: boolean;
}
export const maxListEntries = 1000;

/** A file that comes in parts. */
export interface UploadState {
  /** Bytes that are on the disk. */
  readonly size: number;
}

export interface WriteResult {
  /** Nothing was there before. */
  readonly created: boolean;
  readonly entry: Entry;
}

/** Logs the daemon serves: its own, and the runtime's standard output and error. */
export type LogName = 'guestd' | 'runtime';

/** Offsets count bytes since the guest first booted and never go back: old bytes are dropped, the others keep their offset. */
export interface LogChunk {
  /** Whole lines from the request's offset, or from the oldest byte that is kept. A line longer than the request's limit comes in pieces. */
  readonly text: string;
  /** Where to go on: the end of the log once `text` is empty. */
  readonly nextOffset: number;
}

/** What the daemon runs as the agent's runtime: `/etc/lodge/runtime.json` in the image. */
export interface RuntimeService {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path. The runtime is started only once this file exists (its configuration, which the host writes). */
  readonly startWhenExists?: string;
}
