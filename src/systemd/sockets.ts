// Reads the list of listening sockets that systemd bound before it started us
// (https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html).

export interface PassedSocket {
  readonly fd: number;
  /** FileDescriptorName= of the socket unit; default: the name of the unit. */
  readonly name: string;
}

type SocketEnvironment = Readonly<Record<string, string | undefined>>;

const FIRST_FD = 3;

/** Empty if LISTEN_PID names another process: a child inherits the environment of its parent. */
export function passedSockets(env: SocketEnvironment, pid: number): readonly PassedSocket[] {
  const { LISTEN_PID: forPid, LISTEN_FDS: howMany = '', LISTEN_FDNAMES: names = '' } = env;
  if (forPid !== String(pid) || !/^\d{1,4}$/.test(howMany)) return [];
  const byNumber = names.split(':');
  return Array.from({ length: Number(howMany) }, (_, i) => ({ fd: FIRST_FD + i, name: byNumber[i] || 'unknown' }));
}
