"""What the recovery machine wants, carried out: messages to agents and their workers."""

from __future__ import annotations

from collections.abc import Callable

from artery.cloud.machine import actions
from artery.runner.supervisor.hosts import Host, Hosts
from artery.runner.supervisor.watching import Attempt
from artery.runner.worker.link import PAUSE, SAVE


class Orders:
    """Carries actions out.

    ``attempt`` is the one under way, ``end`` how the run ends once that is known. ``forget`` is
    called with a host that nobody is to listen to any more, ``note`` with what people should know.
    """

    def __init__(
        self, hosts: Hosts, *, forget: Callable[[Host], None], note: Callable[[str], None]
    ) -> None:
        self.attempt = Attempt()
        self.end: actions.End | None = None
        self._awaited = ""
        self._hosts, self._forget, self._note = hosts, forget, note

    def carry_out(self, action: actions.Action, store: str | None) -> None:
        """Do what ``action`` says; ``store`` is the host where the store stands."""
        match action:
            case actions.Start() | actions.StartStore() | actions.Dismiss() | actions.Expel():
                self._to_host(action)
            case actions.Pause() | actions.Stop() | actions.Kill():
                self._to_members(action)
            case actions.Begin():
                self._begin(action, store)
            case actions.End():
                self.end = action

    def _to_host(
        self, action: actions.Start | actions.StartStore | actions.Dismiss | actions.Expel
    ) -> None:
        host = self._hosts.by_name.get(action.host)
        if host is None:
            return
        match action:
            case actions.Start(_, members):
                host.channel.send("start", members=members)
            case actions.StartStore():
                host.stores += 1
                host.channel.send("start_store", number=host.stores)
            case actions.Dismiss():
                host.channel.send("end")
            case actions.Expel(name):
                self._forget(host)
                self._hosts.expel(name)

    def _to_members(self, action: actions.Pause | actions.Stop | actions.Kill) -> None:
        match action:
            case actions.Pause(attempt, save):
                for member in self.attempt.members:
                    wish = SAVE if save else PAUSE
                    self._hosts.tell(member, "pause", attempt=attempt, wish=wish)
            case actions.Stop(attempt):
                self.attempt.watch = None
                for member in self.attempt.members:
                    self._hosts.tell(member, "stop", attempt=attempt)
            case actions.Kill(member):
                host = self._hosts.of(member)
                if host is not None:
                    host.channel.send("kill", member=member)

    def _begin(self, begin: actions.Begin, where: str | None) -> None:
        self.attempt = Attempt(begin.attempt, begin.members)
        places = [member.rpartition(".")[0] for member in begin.members]
        store = self._hosts.by_name.get(where or "")
        if store is None:
            return  # its host has just gone: the loss follows
        hosts = [self._hosts.by_name[name] for name in places if name in self._hosts.by_name]
        for rank, member in enumerate(begin.members):
            own = self._hosts.of(member)
            if own is None:
                continue  # it has just gone as well
            self._hosts.tell(
                member,
                "begin",
                attempt=begin.attempt,
                rank=rank,
                ranks=len(begin.members),
                store=(self._hosts.reached_at(store, [own]), store.store_port),
                address=self._hosts.reached_at(own, hosts),
                step=begin.step,
                source=places.index(begin.host) if begin.host in places else 0,
                memory=begin.host is not None,
                leader=places.index(places[rank]) == rank,
            )
        if begin.attempt > 1 or begin.step:
            self._awaited = begin.members[places.index(begin.host) if begin.host in places else 0]

    def resumed(self, member: str, step: int, *, memory: bool) -> None:
        """Say what the attempt goes on from, once who has the state has said what it really is."""
        if member == self._awaited:
            held = f"the memory of {member.rpartition('.')[0]}"
            source = held if memory else "disk" if step else "nothing"
            self._note(f"{len(self.attempt.members)} ranks go on from step {step} ({source})")
            self._awaited = ""
