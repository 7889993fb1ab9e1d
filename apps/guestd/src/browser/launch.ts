/**
 * The command that starts Chromium in the root of its own disk. The mount namespace ends with Chromium, and nothing stays
 * mounted. The root is changed by pivot_root, because Chromium's sandbox needs user namespaces, which a chroot refuses.
 */
import { constants } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { guestBrokerPort, hostAddress } from '@lodge/guest';
import { Refusal } from '../errors.ts';
import type { Settings } from '../settings.ts';

const homeFolder = '/home/browser';
/** In the agent's home, which an upgrade copies. Only the browser can read it. */
export const profileFolder = '/home/agent/.browser';
/** No part of the profile, so that an upgrade does not copy it. */
const cacheFolder = `${homeFolder}/cache`;
const mountedProfile = `${homeFolder}/profile`;
const downloadsFolder = '/workspace/downloads';
const runFolder = '/run/lodge/browser';
/** The variable by which a daemon finds what an earlier one has started. */
export const marker = 'LODGE_BROWSER';

/**
 * Chromium's managed policy. A page must reach nothing of the machine or its network by itself. Chromium keeps no passwords, and
 * contacts nobody unless a page does. Names are resolved by the machine's name server alone, for which rules of egress hold.
 */
const policy = {
  DnsOverHttpsMode: 'off',
  QuicAllowed: false,
  SyncDisabled: true,
  BrowserSignin: 0,
  ExtensionInstallBlocklist: ['*'],
  URLBlocklist: ['file://*', `${hostAddress}:${guestBrokerPort}`],
  LocalNetworkAccessBlockedForUrls: ['*'],
  DownloadDirectory: downloadsFolder,
  PromptForDownloadLocation: false,
  PasswordManagerEnabled: false,
  AutofillCreditCardEnabled: false,
  MetricsReportingEnabled: false,
  ComponentUpdatesEnabled: false,
  SafeBrowsingProtectionLevel: 0,
  SearchSuggestEnabled: false,
  NetworkPredictionOptions: 2,
  BackgroundModeEnabled: false,
  TranslateEnabled: false,
  DefaultGeolocationSetting: 2,
  DefaultNotificationsSetting: 2,
  AudioCaptureAllowed: false,
  VideoCaptureAllowed: false,
};

const flags = [
  '--headless=new',
  '--remote-debugging-port=0',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-gpu',
  '--disable-breakpad',
  '--disable-background-networking',
  '--disable-component-update',
  '--password-store=basic',
  '--window-size=1280,800',
];

/**
 * Arguments: the device, the folder to mount it at, the ids of the user, and Chromium's own arguments. The rule for the route
 * keeps pages from the host's door for this machine, where model calls and connections have their secrets filled in. It
 * names TCP by its number: guests have no list of protocols. Hermes closes the workspace to all other users; there the browser
 * sees the downloads alone, in a folder of its own disk.
 */
const script = `
set -e
device=$1 root=$2 id=$3; shift 3
ip rule del pref 4000 2> /dev/null || true
ip rule add pref 4000 uidrange "$id-$id" to ${hostAddress} ipproto 6 dport ${guestBrokerPort} prohibit
mount -t ext4 -o ro,nosuid,nodev "$device" "$root"
for folder in proc dev sys; do mount --rbind "/$folder" "$root/$folder"; done
for folder in tmp run; do mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/$folder"; done
for file in resolv.conf hosts; do [ ! -e "$root/etc/$file" ] || mount --bind "/etc/$file" "$root/etc/$file"; done
mount --bind ${runFolder}/policies "$root/etc/chromium/policies/managed"
mount --bind ${homeFolder} "$root${homeFolder}"
mount --bind ${profileFolder} "$root${mountedProfile}"
if setpriv --reuid "$id" --regid "$id" --clear-groups test -x /workspace; then
  mount --bind /workspace "$root/workspace"
  mount -o remount,bind,ro,nosuid,nodev "$root/workspace"
fi
mount --bind ${downloadsFolder} "$root${downloadsFolder}"
cd "$root"
pivot_root . .
umount -l .
cd /
umask 022
exec setpriv --reuid "$id" --regid "$id" --clear-groups --no-new-privs env -i HOME=${homeFolder} LANG=C.UTF-8 \\
  PATH=/usr/bin:/bin ${marker}="$${marker}" /usr/lib/chromium/chromium "$@"
`;

/** Prepares the folders, and returns the command. With a program of its own, a test starts that one without a disk. */
export async function launchCommand({ root, agent, browser }: Settings, device: string | null): Promise<string[]> {
  const { uid, program } = browser;
  for (const folder of [homeFolder, mountedProfile, cacheFolder, profileFolder])
    await ownFolder(`${root}${folder}`, uid, uid, 0o700);
  await ownFolder(`${root}${downloadsFolder}`, agent.uid, uid, 0o2775);
  const wanted = (profile: string, cache: string): string[] => [
    ...flags,
    `--user-data-dir=${profile}`,
    `--disk-cache-dir=${cache}`,
    'about:blank',
  ];
  if (program !== null) return [program, ...wanted(`${root}${profileFolder}`, `${root}${cacheFolder}`)];
  const mounted = `${root}${runFolder}/root`;
  const policies = `${root}${runFolder}/policies`;
  for (const folder of [mounted, policies]) await mkdir(folder, { recursive: true });
  await writeFile(`${policies}/lodge.json`, JSON.stringify(policy));
  return [
    'unshare',
    '--mount',
    'sh',
    '-c',
    script,
    'sh',
    device!,
    mounted,
    String(uid),
    ...wanted(mountedProfile, cacheFolder),
  ];
}

/** Makes a folder, or takes one that is there. A link in its place, which the agent may have made, is refused. */
async function ownFolder(path: string, uid: number, gid: number, mode: number): Promise<void> {
  await mkdir(path, { recursive: true });
  try {
    await using folder = await open(path, constants.O_DIRECTORY | constants.O_NOFOLLOW);
    if (process.getuid?.() === 0) await folder.chown(uid, gid);
    await folder.chmod(mode);
  } catch {
    throw new Refusal(409, `${path} is not a folder`);
  }
}
