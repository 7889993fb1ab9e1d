/**
 * The unit that runs Lodge under systemd. Its limits matter as much as its settings:
 *
 * - Nothing here may give the service its own mounts (ProtectSystem=, PrivateTmp=, ProtectKernel...=). The names of agents'
 *   networks are mounts in /run/netns: in a private view they would go with the service, and agents outlive it.
 * - There is no filter of system calls, and the bounds on capabilities stop at those below, because QEMU, mmdebstrap, nft
 *   and Postgres each need their own.
 * - Control groups stay writable: machines and the control plane have groups of their own at the top of the tree.
 */
export interface UnitOptions {
  /** Absolute path of the repository. */
  readonly root: string;
  /** Absolute path of the file with settings; it may be absent. */
  readonly environmentFile: string;
  /** Where the host's Node and npm are, beside the system's own folders. */
  readonly programs: string;
}

/** Capabilities that neither Lodge's programs nor their children use. */
const dropped = [
  'CAP_SYS_BOOT',
  'CAP_SYS_MODULE',
  'CAP_SYS_TIME',
  'CAP_WAKE_ALARM',
  'CAP_MAC_ADMIN',
  'CAP_MAC_OVERRIDE',
  'CAP_SYSLOG',
  'CAP_AUDIT_CONTROL',
  'CAP_AUDIT_READ',
];

const systemFolders = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The first line, by which a later `install` or `uninstall` knows the file as its own. */
export const unitMark = '# Written by `npm run lodge -- install`, which writes it anew: put changes into a drop-in.';

/** Throws when a path has a character that systemd would interpret. */
export function unitText({ root, environmentFile, programs }: UnitOptions): string {
  for (const path of [root, environmentFile, programs]) {
    if (!/^\/[\w./@+:-]*$/.test(path)) {
      throw new Error(
        `The path ${path} has characters that a unit cannot have. Move Lodge to a plainer path, as /opt/lodge.`,
      );
    }
  }
  const path = systemFolders.split(':').includes(programs) ? systemFolders : `${programs}:${systemFolders}`;
  return `${unitMark}
[Unit]
Description=Lodge, hosting for AI agents
After=network-online.target
Wants=network-online.target
# Twenty starts that fail within ten minutes are enough.
StartLimitIntervalSec=600
StartLimitBurst=20

[Service]
Type=exec
WorkingDirectory=${root}
Environment=HOME=/root
Environment=PATH=${path}
EnvironmentFile=-${environmentFile}
ExecStart=/bin/bash ${root}/scripts/start.sh
Restart=on-failure
RestartSec=2
# Setting up, with packages to install, takes minutes once. Ending takes 30 s at most.
TimeoutStartSec=infinity
TimeoutStopSec=60
StandardOutput=journal
StandardError=journal
SyslogIdentifier=lodge

# Agents' machines outlive the service: systemd ends the main process alone, and the control plane ends with it.
KillMode=process
# One machine that runs out of memory is no end of the service.
OOMPolicy=continue
Delegate=yes
LimitNOFILE=65536
LimitCORE=0
TasksMax=16384

# Only what gives the service no mounts of its own: names of agents' networks are mounts that must outlive it.
CapabilityBoundingSet=~${dropped.join(' ')}
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK AF_PACKET
RestrictRealtime=yes
LockPersonality=yes
KeyringMode=private

[Install]
WantedBy=multi-user.target
`;
}
