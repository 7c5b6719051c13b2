import time, pytest, signal
from tests.timelines import server as sv
pytestmark = pytest.mark.django_db(transaction=True)
from tests.timelines.test_streaming import *
def test_it(django_db_setup, tmp_path, reader, monkeypatch):
    orig=sv.subprocess.Popen
    def popen(command, **k):
        command=[command[0],"-c","import faulthandler,signal; faulthandler.register(signal.SIGUSR1, all_threads=True)\nimport logging; logging.getLogger('uvicorn.error').setLevel('INFO')\n"+command[2].replace("asgi.serve()","\nimport uvicorn; o=uvicorn.run\nuvicorn.run=lambda *a,**k: o(*a,**{**k,'log_level':'info'})\nasgi.serve()")]
        k["env"]["LOG_LEVEL"]="info"
        return orig(command, **k)
    monkeypatch.setattr(sv.subprocess,"Popen",popen)
    with streaming_server(tmp_path/"log") as server:
        with open_socket(server, reader, "user") as s:
            assert s.is_silent()
        server.process.terminate()
        try:
            server.process.wait(6)
        except Exception: 
            server.process.send_signal(signal.SIGUSR1); time.sleep(0.5)
    print((tmp_path/"log").read_text()[-6000:])
